import { expect } from "chai";
import { type AssetOpenerDeps, GuardedAssetOpener } from "../../adapters/downloads/asset-opener.js";
import type { AssetOpener } from "../../core/ports/asset-opener.js";
import type { JobAttempt } from "../../core/jobs/job.js";
import type { ProviderCapabilities } from "../../core/ports/music-provider.js";
import { MemoryVendor } from "../support/doubles/memory-vendor.js";
import { SCRIPTED_AUDIO } from "../support/doubles/scripted-provider.js";
import { insertOldJob, LINK, OLD_JOBS, type OldIds, type OldJob, type OldName } from "../support/old-jobs.js";
import { migrateAgain, migrateInterrupted, oldMysql, oldSqlite } from "../support/old-schema.js";
import { WorkerHarness } from "../system/jobs/worker-harness.js";

const NAME = "0017-attempts";
const MINUTE = 60_000;

type States = readonly (readonly [JobAttempt["state"], JobAttempt["loss"]])[];

/** The expected attempts of each job after the migration. */
const MIGRATED: Readonly<Record<OldName, States>> = {
  waiting: [],
  "waiting, refused before": [
    ["refused", null],
    ["refused", null],
  ],
  claimed: [],
  "submitting, its worker lost": [["intended", null]],
  "submitting, its outcome unknown": [["unknown", null]],
  "submitting, repeated": [
    ["intended", null],
    ["unknown", null],
    ["refused", null],
  ],
  "submitting, its result in memory": [["finished", null]],
  rendering: [
    ["refused", null],
    ["accepted", null],
  ],
  "rendering, repeated": [
    ["abandoned", null],
    ["abandoned", null],
    ["accepted", null],
  ],
  "rendering, behind a link": [["finished", null]],
  completed: [
    ["abandoned", null],
    ["settled", null],
  ],
  refused: [
    ["refused", null],
    ["refused", null],
  ],
  "refused for its content": [["refused", null]],
  "failed there": [["failed", "provider_failed"]],
  "gone there": [["failed", "provider_failed"]],
  "never heard of": [["abandoned", "unknown"]],
  "ended with its worker": [["abandoned", "unknown"]],
  "its files lost": [["failed", "files_lost"]],
  overdue: [["abandoned", "deadline"]],
  cancelled: [["abandoned", "cancelled"]],
  "to be cancelled": [
    ["refused", null],
    ["abandoned", "cancelled"],
  ],
  "overdue, to be cancelled": [["abandoned", "deadline"]],
  "behind a link, to be cancelled": [["abandoned", "cancelled"]],
};

const LIVE = (Object.keys(OLD_JOBS) as OldName[]).filter((name) => OLD_JOBS[name].phase !== "ended");
/** When nothing can be found out about them. */
const LOST: Partial<Record<OldName, string>> = {
  "submitting, its worker lost": "provider_timeout",
  "submitting, its outcome unknown": "provider_timeout",
  "submitting, its result in memory": "generation_failed",
};

/** `lost`: what is refunded there, with its error code. `except`: jobs that cannot have been at such a provider. */
type Provider = readonly [
  what: string,
  capabilities: Partial<ProviderCapabilities>,
  except: readonly OldName[],
  lost: Partial<Record<OldName, string>>,
];

const REPEATED: readonly OldName[] = ["submitting, repeated", "rendering, repeated"];
const IN_MEMORY: OldName = "submitting, its result in memory";
const PROVIDERS: readonly Provider[] = [
  ["that neither repeats nor finds submissions", {}, REPEATED, LOST],
  ["that finds submissions", { lookup: true }, [...REPEATED, IN_MEMORY], {}],
  ["that renders once per job", { idempotentSubmit: true }, [IN_MEMORY], {}],
];

/** The URL serves what the provider delivered earlier; everything else is in memory. */
function openerOf(harness: WorkerHarness): AssetOpener {
  const refusal = new Error("Nothing else is fetched.");
  const connect: AssetOpenerDeps["connect"] = (_options, callback) => callback(refusal, null);
  const inMemory = new GuardedAssetOpener({ connect, clock: harness.clock, version: "0.0.0" });
  return {
    open: (source, options) =>
      source.kind === "url" && source.url === LINK
        ? Promise.resolve({ contentType: "audio/mpeg", bytes: bytes() })
        : inMemory.open(source, options),
    close: () => inMemory.close(),
  };
}

async function* bytes(): AsyncIterable<Uint8Array> {
  yield SCRIPTED_AUDIO;
}

for (const { name, openBefore } of [oldSqlite, oldMysql]) {
  describe(`Jobs from before attempts had states of their own: ${name}`, function () {
    this.timeout(60_000);
    let harness: WorkerHarness;
    let vendor: MemoryVendor;
    let ids: Map<OldName, OldIds>;

    async function openWith(except: readonly OldName[]): Promise<void> {
      harness = await WorkerHarness.open(await openBefore(NAME));
      vendor = new MemoryVendor(harness.provider);
      ids = new Map();
      for (const [job, old] of Object.entries(OLD_JOBS) as [OldName, OldJob][]) {
        if (except.includes(job)) continue;
        ids.set(job, await insertOldJob(harness.storage, harness.accountId, old, harness.clock.now()));
      }
    }
    afterEach(() => harness.close());

    async function expectMigrated(): Promise<void> {
      const attempts = await harness.storage.jobs.attemptsOf([...ids.values()].map(({ id }) => id));
      for (const [job, { id }] of ids) {
        const states = (attempts.get(id) ?? []).map(({ state, loss }) => [state, loss]);
        expect(states, job).to.deep.equal(MIGRATED[job]);
      }
      for (const attempt of [...attempts.values()].flat()) expect(attempt.modelId).to.equal("scripted/song");
    }

    const idOf = (job: OldName): OldIds["id"] => (ids.get(job) as OldIds).id;

    for (const [what, capabilities, except, lost] of PROVIDERS) {
      it(`are finished by a current worker, and nothing is bought twice, at a provider ${what}`, async () => {
        await openWith(except);
        // The vendor's record of the earlier calls: all except the refused ones.
        for (const job of LIVE) {
          const tried = OLD_JOBS[job].outcomes as OldJob["outcomes"];
          const bought = tried.findIndex((outcome) => outcome !== "unavailable" && outcome !== "rate_limited");
          const id = ids.get(job)?.attempts[bought];
          if (id !== undefined) vendor.purchases.push(id);
        }
        const before = vendor.purchases.length;
        const ended = [...ids.keys()].filter((job) => !LIVE.includes(job));
        expect((await harness.storage.database.migrate())[0]).to.equal(NAME);
        await expectMigrated();
        const endedBefore = await harness.storage.jobs.findJobs(ended.map(idOf));

        vendor.hasFinished = true;
        await harness.start({ capabilities: { cancel: true, ...capabilities }, opener: openerOf(harness) });
        await harness.pass(20_000);
        // The grace time of those with an unknown outcome is over.
        harness.clock.set(harness.clock.now() + 10 * MINUTE);
        await harness.pass(5_000);
        for (const job of LIVE.filter((one) => ids.has(one))) {
          const code = lost[job];
          if (code === undefined) await harness.expectCompleted(idOf(job));
          else await harness.expectFailed(idOf(job), code);
        }
        expect(await harness.storage.jobs.findJobs(ended.map(idOf))).to.deep.equal(endedBefore);
        const submitted = new Set(harness.provider.submissions.map(({ jobId }) => jobId));
        const isRepeatable = capabilities.idempotentSubmit === true;
        const repeated = isRepeatable ? LIVE.filter((job) => job.startsWith("submitting") && ids.has(job)) : [];
        const unbought = LIVE.filter((job) => OLD_JOBS[job].phase === "waiting");
        expect([...submitted].sort()).to.deep.equal([...unbought, ...repeated].map(idOf).sort());
        expect(harness.provider.submissions).to.have.length(submitted.size);
        expect(vendor.purchases.length - before).to.equal(submitted.size);
        const toBeCancelled: OldName[] = ["to be cancelled", "overdue, to be cancelled"];
        const tasks = toBeCancelled.map((job) => ids.get(job)?.attempts.at(-1));
        expect([...vendor.cancelled].sort()).to.deep.equal(tasks.sort());
      });
    }

    it("are the same when the migration was interrupted before any of its writes, and ran again", async () => {
      await openWith([]);
      expect(await migrateInterrupted(harness.storage.database, NAME)).to.be.above(30);
      // A column of later, which the store reads too.
      await migrateAgain(harness.storage.database, "0034-attempt-progress");
      await expectMigrated();
      expect((await harness.storage.database.migrate())[0]).to.equal(NAME);
      await expectMigrated();
      for (const column of ["handle", "cancel_due_at"]) {
        expect(await harness.storage.database.write.schema.hasColumn("fermata_jobs", column)).to.equal(false);
      }
      const rendering = (await harness.storage.jobs.listAttempts(idOf("rendering")))[1];
      expect(rendering?.handle).to.deep.equal({ version: 1, data: { task: rendering?.id } });
    });
  });
}
