import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { createStores, type KnexDatabase, openDatabase, type Stores } from "../../../adapters/storage/sql/index.js";
import type { AccountId, JobId } from "../../../core/ids.js";
import type { Job } from "../../../core/jobs/job.js";
import type { CheckResult } from "../../../core/ports/self-check.js";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { aJob, anId, anIdempotencyRecord, aReservation } from "../../support/builders.js";
import { SILENT, TEST_PORTS } from "../../support/databases.js";
import { createMigratedMysqlDatabase } from "../../support/mysql.js";
import { gateFile, gateRecordingProvider } from "../../support/plugins/gate/index.js";
import { type Environment, eventually, useSandbox } from "../../support/process.js";
import { wallClockOffBy } from "../../support/wrong-clock.js";

const [MINUTE, HOUR] = [60_000, 3_600_000];
const LEASE_MS = 2_000;

interface Place {
  readonly url: string;
  drop(): Promise<unknown>;
}

interface StorageKind {
  readonly name: string;
  open(dataDir: string): Promise<Place>;
  /** How far the machine's clock is ahead, in milliseconds. */
  readonly offsets: readonly number[];
}

const STORAGES: readonly StorageKind[] = [
  { name: "MySQL", open: () => createMigratedMysqlDatabase(), offsets: [61 * MINUTE, 24 * HOUR, -24 * HOUR] },
  {
    name: "SQLite",
    open: async (dataDir) => ({ url: `sqlite:${join(dataDir, "fermata.sqlite")}`, drop: () => Promise.resolve() }),
    offsets: [61 * MINUTE],
  },
];

for (const { name, open, offsets } of STORAGES) {
  describe(`A process with a wrong system clock, on ${name}`, function () {
    this.timeout(90_000);

    let place: Place;
    let dataDir: string;
    let settings: Environment;
    let database: KnexDatabase;
    let stores: Stores;
    let accountId: AccountId;
    let key: string;
    // Runs before the processes of the sandbox are ended.
    const sandbox = useSandbox();
    afterEach(async () => {
      await database.close();
      await place.drop();
    });

    beforeEach(async () => {
      dataDir = await sandbox.dataDir();
      place = await open(dataDir);
      settings = {
        FERMATA_STORAGE__URL: place.url,
        FERMATA_JOBS__LEASE_SECONDS: String(LEASE_MS / 1000),
        FERMATA_JOBS__SWEEP_MS: "100",
        FERMATA_DEMO__ENABLED: "false",
        FERMATA_METRICS__PORT: "",
        FERMATA_PLUGINS__SYNTH__ENABLED: "false",
        FERMATA_PLUGINS__GATE__ENABLED: "true",
        FERMATA_PLUGINS__GATE__USE: fileURLToPath(new URL("../../support/plugins/gate/index.js", import.meta.url)),
        FERMATA_PLUGINS__GATE__FOLDER: dataDir,
      };
      await sandbox.json(["migrate"], dataDir, settings);
      const create = ["accounts", "create", "Nightingale Radio", "--tier", "pro", "--accept-terms", "--credits", "100"];
      ({ id: accountId } = await sandbox.json<{ id: AccountId }>(create, dataDir, settings));
      ({ key } = await sandbox.json<{ key: string }>(["keys", "issue", accountId], dataDir, settings));
      database = await openDatabase({ url: place.url, logger: SILENT });
      stores = createStores(database, TEST_PORTS);
    });

    /** A job with its credits reserved, as another process left it. */
    async function addJob(overrides: Partial<Job>): Promise<JobId> {
      const modelId = "gate/waiting";
      const job = aJob({ accountId, providerId: "gate", modelId, servedModelId: modelId, ...overrides });
      await stores.unitOfWork.inTransaction(async (tx) => {
        const balance = (await stores.ledger.lockBalances(tx, [accountId])).get(accountId);
        if (balance === undefined) throw new Error("The account has a balance.");
        await stores.jobs.insertJobs(tx, [job]);
        await stores.ledger.apply(tx, [aReservation(balance, job)]);
      });
      return job.id;
    }

    const jobOf = async (id: JobId): Promise<Job> => (await stores.jobs.findJobs([id])).get(id) as Job;

    const keysOf = (): Promise<string[]> =>
      database.reading(async (session) => {
        const rows = await session.all<{ key_hash: string }>("SELECT key_hash FROM fermata_idempotency_records");
        return rows.map(({ key_hash }) => key_hash);
      });

    for (const offMs of offsets) {
      it(`off by ${offMs / MINUTE} minutes ends, claims and deletes only what is due by the storage`, async () => {
        const began = Date.now();
        const right = new ApiClient(await sandbox.call(["serve"], dataDir, settings).listening(), key);
        const body = { model_id: "gate/waiting", prompt: "rain" };
        const accepted = await right.generate(body, { "Idempotency-Key": "rain" });
        const rendering = dataOf<{ id: JobId }>(accepted).id;
        const [kept] = await keysOf();
        const expired = anIdempotencyRecord({ accountId, createdAt: began - 25 * HOUR });
        await stores.unitOfWork.inTransaction((tx) => stores.idempotency.insertRecords(tx, [expired]));
        const lease = { fence: 1, leaseOwner: anId("prc"), dueAt: began + 10 * MINUTE };
        const held = { status: "processing", phase: "submitting", attempt: 1, ...lease } as const;
        const live = await addJob({ ...held, createdAt: began - 5 * MINUTE });
        const before = await jobOf(live);
        const overdue = await addJob({ createdAt: began - 2 * HOUR, dueAt: began + 10 * MINUTE });

        const wrong = sandbox.spawn(["start"], dataDir, { ...settings, ...wallClockOffBy(offMs) });
        const api = new ApiClient(await wrong.listening(), key);
        const isOver = async (): Promise<boolean> =>
          (await jobOf(overdue)).status === "failed" && (await keysOf()).length === 1;
        await eventually("what is over is ended and deleted", isOver);
        expect(await jobOf(live)).to.deep.equal(before);
        expect(await keysOf()).to.deep.equal([kept]);

        await eventually("a submission", () => gateRecordingProvider(dataDir).read().length === 1);
        for (let renewals = 0; renewals < 3; renewals++) {
          const { dueAt } = await jobOf(rendering);
          const renewed = await eventually("a renewal", async () => {
            const job = await jobOf(rendering);
            return job.dueAt !== dueAt && job;
          });
          expect((renewed.dueAt ?? 0) - Date.now()).to.be.within(0, LEASE_MS + 50);
        }
        const replayed = await api.generate(body, { "Idempotency-Key": "rain" });
        expect([replayed.status, replayed.text]).to.deep.equal([202, accepted.text]);

        await writeFile(gateFile(dataDir, 1), "");
        const ended = await eventually("completed", async () => {
          const job = await jobOf(rendering);
          return job.status === "completed" && job;
        });
        expect(ended.completedAt).to.be.within(began, Date.now() + 50);
        expect(ended).to.include({ attempt: 1, crashes: 0 });
        expect(await jobOf(live)).to.deep.equal(before);
        expect(await keysOf()).to.deep.equal([kept]);
        expect(await sandbox.json(["ledger", "verify"], dataDir, settings)).to.include({ ok: true });

        const { text } = await new ApiClient(api.url, null).get("/metrics");
        const gauge = /^fermata_clock_offset_seconds (\S+)$/m.exec(text);
        expect(Number(gauge?.[1])).to.be.closeTo(offMs / 1000, 0.5);
        expect(wrong.stderr.match(/This machine's clock differs from the storage's/g)).to.have.length(1);
      });
    }

    it("off by 61 minutes is found by the doctor", async () => {
      const doctor = sandbox.spawn(["doctor", "--json"], dataDir, { ...settings, ...wallClockOffBy(61 * MINUTE) });
      expect(await doctor.exited).to.deep.equal({ code: 0, signal: null });
      const { checks } = JSON.parse(doctor.stdout) as { readonly checks: readonly CheckResult[] };
      const found = checks.find((check) => check.name === "clock");
      expect(found).to.include({ result: "warning" });
      expect(found?.message).to.match(/^This machine's clock is 36(60|59)\.\d s ahead of the storage's\./);
      expect(found?.fix).to.include("chrony");
    });
  });
}
