import { expect } from "chai";
import { MemoryJobQueue } from "../../adapters/queue/memory/job-queue.js";
import type { Stores } from "../../adapters/storage/sql/index.js";
import { Tiers } from "../../core/accounts/tiers.js";
import type { AccountId } from "../../core/ids.js";
import type { Clock } from "../../core/ports/clock.js";
import { AcceptJobs } from "../../core/jobs/accept-jobs.js";
import type { Job } from "../../core/jobs/job.js";
import { type SplitRequest, type StartedSplit, StartSplit } from "../../core/generations/start-split.js";
import type { Track } from "../../core/library/track.js";
import { Catalogue } from "../../core/providers/catalogue.js";
import { Routes } from "../../core/providers/routes.js";
import { anAsset, anId, aTrack, NOON, NO_UPLOADS } from "../support/builders.js";
import { SILENT, TEST_PORTS } from "../support/databases.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";
import { unrecorded } from "../../core/audit/unrecorded.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { collide, type Step } from "../support/race-harness.js";
import { FaultyPort } from "../support/doubles/faulty-port.js";
import { openSteppedProcess, type Point, type SteppedProcess } from "../support/stepping.js";

const COST = 8;
const PLENTY = { perMinute: 1_000, perDay: 1_000 };
const TIERS = new Tiers([
  {
    name: "pro",
    maxConcurrent: 10,
    monthlyCredits: 0,
    rateLimits: { read: PLENTY, generation: PLENTY, write: PLENTY },
    uploads: NO_UPLOADS,
  },
]);
const SPLITTER = {
  id: "splitter",
  label: "Splitter",
  models: [],
  enabled: true,
  isReachable: true,
  idempotentSubmit: true,
  lookup: false,
  cancel: false,
};
const PREFERENCES = { fallbacks: {}, splits: { stem_split: ["splitter"], vocal_removal: ["splitter"] } };

/** Where two calls meet: after the locking read, or before the commit. */
const POINTS: readonly Point[] = [/FROM \{balances\}/, "before commit"];

/** Reasons that refuse a new split. */
interface Surroundings {
  readonly isDown?: boolean;
  readonly isOff?: boolean;
}

/** A split under a reference may be started repeatedly, sequentially and concurrently: there is one job. */
export function describeSplitReferences(
  name: string,
  open: () => Promise<StorageUnderTest & { readonly url: string }>,
): void {
  describe(`Splits under a reference: ${name}`, () => {
    let storage: StorageUnderTest & { readonly url: string };
    let clock: ManualClock;
    let accountId: AccountId;
    let track: Track;

    before(async () => {
      storage = await open();
    });
    after(() => storage.close());
    beforeEach(async () => {
      clock = new ManualClock(NOON);
      accountId = (await storage.addAccount({}, { monthly: 100 })).id;
      track = await addTrack(accountId);
    });
    afterEach(async () => {
      expect((await storage.ledger.audit()).violations).to.deep.equal([]);
    });

    async function addTrack(owner: AccountId): Promise<Track> {
      const added = aTrack({ accountId: owner, assets: [anAsset()] });
      await storage.inTransaction((tx) => storage.library.insertTracks(tx, [added]));
      return added;
    }

    /** @param stepped of a process that is held; else two at once wait for each other as they would anywhere */
    function splitsOf(
      stores: Stores,
      { isDown = false, isOff = false }: Surroundings = {},
      stepped: Clock = { ...TEST_PORTS.clock, now: () => clock.now() },
    ): StartSplit {
      const anyTrack = { sources: "any" } as const;
      return new StartSplit({
        ...stores,
        audit: unrecorded(stores.unitOfWork),
        acceptJobs: new AcceptJobs({
          ...stores,
          queue: new MemoryJobQueue(SILENT),
          clock: stepped,
          metrics: null,
          tracer: null,
        }),
        routes: new Routes({
          catalogue: new Catalogue([{ ...SPLITTER, enabled: !isOff, stemSplit: anyTrack, vocalRemoval: anyTrack }]),
          preferences: PREFERENCES,
        }),
        availability: { isOffered: () => Promise.resolve(!isDown) },
        tiers: TIERS,
        clock,
        ids: { next: anId },
        costs: { stem_split: COST, vocal_removal: COST },
      });
    }

    const order = (overrides: Partial<SplitRequest> = {}): SplitRequest => ({
      kind: "stem_split",
      accountId: null,
      trackId: track.id,
      reference: "order 17",
      ...overrides,
    });
    const start = (overrides: Partial<SplitRequest> = {}, surroundings: Surroundings = {}): Promise<StartedSplit> =>
      splitsOf(storage, surroundings).start(order(overrides));
    const messageOf = (outcome: Promise<unknown>): Promise<string> =>
      outcome.then(
        () => "started",
        (error: unknown) => (error as Error).message,
      );
    const jobsOf = (): Promise<Job[]> => storage.jobs.listJobs({ accountId, limit: 10 });
    const expectOneCharge = async (): Promise<void> => {
      expect(await jobsOf()).to.have.length(1);
      expect(await storage.balanceOf(accountId)).to.include({
        monthly: 100 - COST,
        reservedMonthly: COST,
        runningJobs: 1,
      });
    };

    it("are started and charged once", async () => {
      const first = await start();
      expect(first).to.include({ isRepeated: false, reference: "order 17", creditsCharged: COST });
      expect(await start({ client: "another", metadata: { retry: 1 } })).to.deep.equal({ ...first, isRepeated: true });
      expect(await start({ accountId })).to.include({ id: first.id, isRepeated: true });
      await expectOneCharge();
    });

    it("are found even when a new split would be refused: a provider down or disabled, a deleted track", async () => {
      const { id } = await start();
      await storage.inTransaction((tx) =>
        storage.jobs.updateJobs(tx, [{ id, fence: 0, changes: { dueAt: NOON + 1 } }]),
      );
      for (const surroundings of [{ isDown: true }, { isOff: true }]) {
        expect(await start({}, surroundings), JSON.stringify(surroundings)).to.include({
          id,
          dueAt: NOON + 1,
          isRepeated: true,
        });
      }
      const gone: Stores = {
        ...storage,
        library: new FaultyPort(storage.library).on("findTracks", () => Promise.resolve(new Map<never, never>())),
      };
      expect(await splitsOf(gone).start(order({ accountId }))).to.include({ id, isRepeated: true });
      expect(await messageOf(splitsOf(gone).start(order()))).to.include("no such track");
      await expectOneCharge();
    });

    it("are started again without a reference, and under another one", async () => {
      const { reference: _, ...bare } = order();
      const ids = [
        await splitsOf(storage).start(bare),
        await splitsOf(storage).start(bare),
        await start(),
        await start({ reference: "order 18" }),
      ].map(({ id }) => id);
      expect(new Set(ids).size).to.equal(4);
    });

    it("are separate for each account, and for references that differ in a letter or a blank", async () => {
      const other = (await storage.addAccount({}, { monthly: 100 })).id;
      const others = await Promise.all(
        ["Order 17", "order 17 ", "x".repeat(255)].map((reference) => start({ reference })),
      );
      const ids = [
        await start(),
        await start({ accountId: other, trackId: (await addTrack(other)).id }),
        ...others,
      ].map(({ id }) => id);
      expect(new Set(ids).size).to.equal(5);
    });

    it("are refused for another kind or track, naming the job that has the reference", async () => {
      const { id } = await start();
      const message = `The reference order 17 was used for another job: ${id}, a stem_split of the track ${track.id}.`;
      expect(await messageOf(start({ kind: "vocal_removal" }))).to.equal(message);
      expect(await messageOf(start({ trackId: (await addTrack(accountId)).id }))).to.equal(message);
      await expectOneCharge();
    });

    it("are refused with a reference that is empty, too long or not printable ASCII", async () => {
      for (const reference of ["", "x".repeat(256), "é", "a\tb", "a\n"]) {
        expect(await messageOf(start({ reference })), reference).to.equal(
          "A reference has 1 to 255 printable ASCII characters.",
        );
      }
      expect(await jobsOf()).to.deep.equal([]);
    });

    it("are one job for many concurrent calls in one process", async () => {
      const splits = splitsOf(storage);
      const started = await Promise.all(Array.from({ length: 10 }, () => splits.start(order())));
      expect(new Set(started.map(({ id }) => id)).size).to.equal(1);
      expect(started.filter(({ isRepeated }) => !isRepeated)).to.have.length(1);
      await expectOneCharge();
    });

    describe("by two processes at once", () => {
      let processes: SteppedProcess[];
      beforeEach(async () => {
        processes = [await openSteppedProcess(storage.url), await openSteppedProcess(storage.url)];
      });
      afterEach(() => Promise.all(processes.map((process) => process.close())));

      const race = (
        point: Point,
        ...orders: readonly SplitRequest[]
      ): Promise<[StartedSplit | Error, StartedSplit | Error]> => {
        const steps = processes.map((process, index): Step<StartedSplit | Error> => {
          const splits = splitsOf(process.stores, {}, process.clockOf(clock));
          return {
            by: { process },
            begin: () => splits.start(orders[index] as SplitRequest).catch((error: unknown) => error as Error),
          };
        });
        return collide(point, ...(steps as [Step<StartedSplit | Error>, Step<StartedSplit | Error>]));
      };

      for (const point of POINTS) {
        const held = point === "before commit" ? point : "after its locking read";
        it(`are one job, the first held ${held}`, async () => {
          const [one, other] = await race(point, order(), order());
          expect(one).to.include({ isRepeated: false });
          expect(other).to.deep.equal({ ...one, isRepeated: true });
          await expectOneCharge();
        });

        it(`are one job for calls of two kinds, the other refused, the first held ${held}`, async () => {
          const [one, other] = await race(point, order(), order({ kind: "vocal_removal" }));
          expect(one).to.include({ kind: "stem_split", isRepeated: false });
          expect((other as Error).message).to.include("was used for another job");
          await expectOneCharge();
        });
      }
    });
  });
}
