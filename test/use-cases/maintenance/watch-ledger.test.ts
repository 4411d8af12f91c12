import { expect } from "chai";
import { WatchLedger, findLedgerWatch, WATCH_EVERY_MS } from "../../../core/maintenance/watch-ledger.js";
import { anAccount, anId, aJob } from "../../support/builders.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import { memoryStorage, type MemoryStorage } from "../../support/memory-storage.js";
import { RecordingLogger } from "../../support/doubles/recording-logger.js";

const NEVER = new AbortController().signal;
const A_MINUTE_MS = 60_000;
const A_DAY_MS = 86_400_000;

describe("The watch of the ledger", () => {
  let storage: MemoryStorage;
  let clock: ManualClock;
  let logger: RecordingLogger;
  beforeEach(async () => {
    clock = new ManualClock();
    storage = await memoryStorage(clock);
    logger = new RecordingLogger();
  });

  function aProcess(ledger: Pick<MemoryStorage["ledger"], "auditPage"> = storage.ledger): WatchLedger {
    return new WatchLedger({ ...storage, ledger, clock, logger, ids: { next: anId }, fullEveryMs: A_DAY_MS });
  }

  /** An account whose balance has a credit that no entry has. */
  async function aWrongBalance(): Promise<string> {
    const { id } = await storage.addAccount({}, { pack: 10 });
    storage.sql("UPDATE fermata_balances SET pack = 11 WHERE account_id = ?", id);
    return id;
  }

  const errors = (): unknown[] =>
    logger.lines.filter(({ level }) => level === "error").map(({ fields }) => [fields["invariant"], fields["subject"]]);

  it("goes through the ledger, and again after a minute; its state is in the storage", async () => {
    await storage.addAccount({}, { pack: 10 });
    const watch = aProcess();
    await watch.step(NEVER);
    const after = await findLedgerWatch(storage.installation);
    expect(after).to.include({ cursor: null, found: 0, foundBefore: 0, roundEndedAt: clock.now() });
    const first = clock.now();
    await clock.advance(A_MINUTE_MS - 1);
    await watch.step(NEVER);
    expect(await findLedgerWatch(storage.installation)).to.include({ roundEndedAt: first });
    await clock.advance(1);
    await watch.step(NEVER);
    expect(await findLedgerWatch(storage.installation)).to.include({ roundEndedAt: first + A_MINUTE_MS });
    expect(errors()).to.deep.equal([]);
  });

  it("logs a violation once, and counts it until a round finds it no more", async () => {
    const id = await aWrongBalance();
    const watch = aProcess();
    const counts: unknown[] = [];
    const round = async (): Promise<void> => {
      await watch.step(NEVER);
      await clock.advance(A_MINUTE_MS);
      counts.push((await findLedgerWatch(storage.installation))?.foundBefore);
    };
    await round();
    await round();
    expect(errors()).to.deep.equal([["balance-equals-sum-of-entries", id]]);
    storage.sql("UPDATE fermata_balances SET pack = 10 WHERE account_id = ?", id);
    await round();
    expect(counts).to.deep.equal([1, 1, 0]);
  });

  it("goes through what is new, and through all rows again after a day or when something was found", async () => {
    const { id } = await storage.addAccount({}, { pack: 10 });
    const cursors: string[] = [];
    const recorded = {
      auditPage: (cursor: string | null, limit: number) => {
        cursors.push(cursor === null ? "all" : (JSON.parse(cursor) as { part: string }).part);
        return storage.ledger.auditPage(cursor, limit);
      },
    };
    const watch = aProcess(recorded);
    const round = async (afterMs: number): Promise<string[]> => {
      await clock.advance(afterMs);
      cursors.length = 0;
      do await watch.step(NEVER);
      while ((await findLedgerWatch(storage.installation))?.cursor !== null);
      return [...cursors];
    };
    const whole = ["all", "balances", "entries", "jobs"];
    expect(await round(0)).to.deep.equal(whole);
    expect(await round(A_MINUTE_MS)).to.deep.equal(["new-balances", "new-entries", "new-jobs"]);
    expect(await round(A_DAY_MS - A_MINUTE_MS)).to.deep.equal(whole);
    storage.sql("UPDATE fermata_balances SET pack = 11 WHERE account_id = ?", id);
    expect(await round(A_MINUTE_MS)).to.deep.equal(["new-balances", "new-entries", "new-jobs"]);
    expect(errors()).to.deep.equal([["balance-equals-sum-of-entries", id]]);
    expect(await round(A_MINUTE_MS)).to.deep.equal(whole);
    // A change of what was verified is found by a round of all rows alone, which finds it until it is put right.
    storage.sql("UPDATE fermata_balances SET pack = 10 WHERE account_id = ?", id);
    expect(await round(A_MINUTE_MS)).to.deep.equal(whole);
    storage.sql("UPDATE fermata_ledger_entries SET created_at = 1 WHERE account_id = ?", id);
    await round(A_MINUTE_MS);
    expect(await findLedgerWatch(storage.installation)).to.include({ foundBefore: 0 });
    await round(A_DAY_MS);
    expect(await findLedgerWatch(storage.installation)).to.include({ foundBefore: 1 });
    await round(A_MINUTE_MS);
    expect(await findLedgerWatch(storage.installation)).to.include({ foundBefore: 1, isFull: true });
  });

  it("is done by one process at a time; the next one goes on where the first stopped", async () => {
    const jobs = Array.from({ length: 450 }, () => aJob());
    await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, jobs));
    const cursors: (string | null)[] = [];
    // A page takes longer than a step may.
    const slow = {
      auditPage: async (cursor: string | null, limit: number) => {
        cursors.push(cursor);
        await clock.advance(50);
        return storage.ledger.auditPage(cursor, limit);
      },
    };
    const [one, other] = [aProcess(slow), aProcess(slow)];
    await one.step(NEVER);
    await other.step(NEVER);
    expect(cursors).to.deep.equal([null]);
    for (let steps = 0; steps < 2; steps++) await one.step(NEVER);
    await clock.advance(A_MINUTE_MS);
    await one.step(NEVER);
    const read = cursors.length;
    await other.step(NEVER);
    expect(cursors).to.have.length(read);
    await clock.advance(3 * A_MINUTE_MS);
    await other.step(NEVER);
    const state = await findLedgerWatch(storage.installation);
    expect(cursors).to.have.length(read + 1);
    expect(cursors.at(-1)).to.include('"jobs"');
    expect(state?.found).to.be.above(0);
    // The first notices, and leaves it to the other.
    await one.step(NEVER);
    expect(cursors).to.have.length(read + 1);
  });

  it("goes on after the storage was away", async () => {
    let isAway = true;
    const watch = aProcess({
      auditPage: (cursor, limit) =>
        isAway ? Promise.reject(new Error("away")) : storage.ledger.auditPage(cursor, limit),
    });
    expect(
      await watch.step(NEVER).then(
        () => null,
        (error: Error) => error.message,
      ),
    ).to.equal("away");
    isAway = false;
    await clock.advance(WATCH_EVERY_MS);
    await watch.step(NEVER);
    expect((await findLedgerWatch(storage.installation))?.roundEndedAt).to.equal(clock.now());
  });

  it("begins again at a place that another version wrote", async () => {
    await storage.inTransaction((tx) => storage.accounts.insertAccounts(tx, [anAccount()]));
    const { checked } = await storage.ledger.auditPage('{"part":"moons","after":"x"}', 10);
    expect(checked).to.equal(1);
  });
});
