import { expect } from "chai";
import { deleteRetained } from "../../../core/maintenance/delete-retained.js";
import { aHash, anIdempotencyRecord, NOON } from "../../support/builders.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import { memoryStorage, type MemoryStorage } from "../../support/memory-storage.js";
import { until } from "../../support/until.js";

const MINUTE_MS = 60_000;
const LIMIT = 2;
const NEVER = new AbortController().signal;

describe("Deletion of what is past its time", () => {
  let storage: MemoryStorage;
  beforeEach(async () => {
    storage = await memoryStorage(new ManualClock(NOON));
  });

  /** Each batch takes so long. */
  function setUp(batchMs = 0) {
    const clock = new ManualClock(NOON);
    const batches: number[] = [];
    const { growth, installation, unitOfWork, idempotency } = storage;
    const task = deleteRetained(
      { growth, installation, unitOfWork, clock, everyMs: 5_000 },
      {
        id: "delete-records",
        description: "Of a test.",
        rule: { kind: "idempotency_records", setting: "idempotency.ttlHours", keptMs: 0 },
        limit: LIMIT,
        deleteBatch: async (tx, before, limit) => {
          const deleted = await idempotency.deleteExpired(tx, before, limit);
          batches.push(deleted);
          if (batchMs > 0) await clock.advance(batchMs);
          return deleted;
        },
      },
    );
    return { clock, batches, task };
  }

  const addExpired = (count: number): Promise<void> =>
    storage.inTransaction((tx) =>
      storage.idempotency.insertRecords(
        tx,
        Array.from({ length: count }, () => anIdempotencyRecord({ keyHash: aHash(), expiresAt: NOON - 1 })),
      ),
    );
  const left = async (): Promise<number> => (await storage.growth.due("idempotency_records", NOON, 100)).rows;

  it("writes nothing while nothing is due", async () => {
    const { batches, task } = setUp();
    await task.run(NEVER);
    expect(batches).to.deep.equal([]);
    expect(await storage.installation.find("retention of idempotency_records")).to.equal(null);
  });

  it("goes on in small transactions until nothing is left", async () => {
    await addExpired(5);
    const { batches, task } = setUp();
    await task.run(NEVER);
    expect([batches, await left()]).to.deep.equal([[2, 2, 1], 0]);
  });

  it("rests after each transaction for as long as that took", async () => {
    await addExpired(4);
    const { clock, batches, task } = setUp(300);
    const running = task.run(NEVER);
    await until("the first batch is deleted", () => clock.sleeping === 1);
    await clock.advance(299);
    expect(batches).to.deep.equal([2]);
    await clock.advance(1);
    await until("the second batch is deleted", () => batches.length === 2 && clock.sleeping === 1);
    await clock.advance(300);
    await running;
    expect(batches).to.deep.equal([2, 2, 0]);
  });

  it("leaves the rest to the next run after a minute, and stops when it is aborted", async () => {
    await addExpired(6);
    const { clock, batches, task } = setUp(MINUTE_MS);
    const running = task.run(NEVER);
    await until("a batch is deleted", () => clock.sleeping === 1);
    await clock.advance(MINUTE_MS);
    await running;
    expect([batches, await left()]).to.deep.equal([[2], 4]);
    const stopping = new AbortController();
    const stopped = task.run(stopping.signal);
    await until("it rests", () => clock.sleeping === 1);
    stopping.abort();
    await stopped;
    expect(await left()).to.equal(2);
  });

  it("deletes nothing while another process does", async () => {
    await addExpired(3);
    const { growth, unitOfWork, idempotency } = storage;
    const task = deleteRetained(
      {
        ...{ growth, unitOfWork, clock: new ManualClock(NOON), everyMs: 5_000 },
        installation: { keepFirst: () => Promise.resolve(""), tryLock: () => Promise.resolve(false) },
      },
      {
        ...{ id: "delete-records", description: "Of a test.", limit: LIMIT },
        rule: { kind: "idempotency_records", setting: "idempotency.ttlHours", keptMs: 0 },
        deleteBatch: (tx, before, limit) => idempotency.deleteExpired(tx, before, limit),
      },
    );
    await task.run(NEVER);
    expect(await left()).to.equal(3);
  });
});
