import { expect } from "chai";
import { ServiceUnavailableError } from "../../../../core/errors.js";
import type { RequestLogStore } from "../../../../core/ports/request-log-store.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import { BATCH_MAX, FLUSH_MS, RecordRequests, WAITING_MAX } from "../../../../core/usage/record-requests.js";
import type { LoggedRequest } from "../../../../core/ports/request-log.js";
import { aLoggedRequest, anId } from "../../../support/builders.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";
import { RecordingLogger } from "../../../support/doubles/recording-logger.js";

/** A storage that takes rows, or does not, as a test says. */
class Storage {
  readonly rows = new Map<string, LoggedRequest>();
  /** The sizes of the batches that came, refused ones included. */
  readonly batches: number[] = [];
  /** What a try to write ends with. */
  response: (batch: readonly LoggedRequest[]) => Promise<void> = () => Promise.resolve();

  /** Whether each batch was said to have no row that may be there already. */
  readonly areNew: (boolean | undefined)[] = [];

  async insert(_tx: Transaction, batch: readonly LoggedRequest[], options?: { areNew: boolean }): Promise<void> {
    this.batches.push(batch.length);
    this.areNew.push(options?.areNew);
    await this.response(batch);
    for (const row of batch) this.rows.set(row.id, row);
  }
}

const outage = (): Promise<never> => Promise.reject(new ServiceUnavailableError());

describe("RecordRequests", () => {
  let clock: ManualClock;
  let storage: Storage;
  let logger: RecordingLogger;
  let dropped: number;
  let recorder: RecordRequests;
  beforeEach(() => {
    clock = new ManualClock();
    storage = new Storage();
    logger = new RecordingLogger();
    dropped = 0;
    recorder = new RecordRequests({
      log: storage as unknown as RequestLogStore,
      unitOfWork: { concurrentWriters: 1, inTransaction: (work) => work({} as Transaction, { isRetry: false }) },
      clock,
      logger,
      metrics: { countDroppedLogRows: (count) => void (dropped += count) },
      redact: (text) => text.replace("secret", "[redacted]"),
    });
  });

  const add = (count: number): LoggedRequest[] => {
    const requests = Array.from({ length: count }, () => aLoggedRequest());
    for (const request of requests) recorder.add(request);
    return requests;
  };
  const messages = (): string[] => logger.lines.map(({ message }) => message);

  describe("a flood of refused requests", () => {
    const flood = (count: number): void => {
      const accountId = anId("acct");
      for (let created = 0; created < count; created++) {
        recorder.add(aLoggedRequest({ accountId, status: 429, errorCode: "rate_limited" }));
      }
    };
    const stored = (): number => [...storage.rows.values()].reduce((sum, { count }) => sum + count, 0);

    it("leaves 21 rows, whose counts are all of it", async () => {
      flood(5_000);
      await clock.advance(FLUSH_MS);
      expect([storage.rows.size, stored()]).to.deep.equal([21, 5_000]);
      expect(dropped).to.equal(0);
    });

    it("is whole when it is read, and when the process stops", async () => {
      flood(1_000);
      await recorder.flush();
      expect(stored()).to.equal(1_000);
      flood(700);
      await recorder.close(1_000);
      expect(stored()).to.equal(1_700);
    });

    it("waits while the storage takes no rows, and takes no place of others", async () => {
      storage.response = outage;
      flood(WAITING_MAX * 3);
      await clock.advance(FLUSH_MS);
      expect(dropped).to.equal(0);
      storage.response = () => Promise.resolve();
      await clock.advance(10_000);
      expect([storage.rows.size, stored()]).to.deep.equal([21, WAITING_MAX * 3]);
    });
  });

  it("writes what came within half a second in one batch, and rests when nothing waits", async () => {
    const first = add(1);
    await clock.advance(FLUSH_MS - 1);
    const second = add(2);
    expect(storage.batches).to.deep.equal([]);
    await clock.advance(1);
    expect(storage.batches).to.deep.equal([3]);
    expect([...storage.rows.values()]).to.deep.equal([...first, ...second]);
    expect(clock.sleeping).to.equal(0);
    add(1);
    await clock.advance(FLUSH_MS);
    expect(storage.batches).to.deep.equal([3, 1]);
  });

  it("writes at once when a batch is full", async () => {
    add(BATCH_MAX - 1);
    await clock.advance(0);
    expect(storage.batches).to.deep.equal([]);
    add(2);
    await clock.advance(0);
    expect(storage.batches).to.deep.equal([BATCH_MAX]);
    await clock.advance(FLUSH_MS);
    expect(storage.batches).to.deep.equal([BATCH_MAX, 1]);
  });

  it("writes one batch at a time, and keeps what comes meanwhile for the next", async () => {
    const releases: (() => void)[] = [];
    storage.response = () => new Promise((resolve) => releases.push(resolve));
    add(BATCH_MAX);
    await clock.advance(0);
    add(BATCH_MAX + 7);
    await clock.advance(60_000);
    expect(storage.batches).to.deep.equal([BATCH_MAX]);
    releases.pop()?.();
    await clock.advance(0);
    expect(storage.batches).to.deep.equal([BATCH_MAX, BATCH_MAX]);
    releases.pop()?.();
    await clock.advance(FLUSH_MS);
    releases.pop()?.();
    await clock.advance(0);
    expect(storage.batches).to.deep.equal([BATCH_MAX, BATCH_MAX, 7]);
    expect(storage.rows.size).to.equal(2 * BATCH_MAX + 7);
  });

  it("says that rows are new until one of them may have been written, and again after that", async () => {
    add(1);
    await clock.advance(FLUSH_MS);
    storage.response = outage;
    add(1);
    await clock.advance(FLUSH_MS);
    storage.response = () => Promise.resolve();
    add(1);
    await clock.advance(10_000);
    add(1);
    await clock.advance(FLUSH_MS);
    const accountId = anId("acct");
    for (let sent = 0; sent < 30; sent++) recorder.add(aLoggedRequest({ accountId, status: 429 }));
    await clock.advance(FLUSH_MS);
    expect(storage.areNew).to.deep.equal([true, true, false, true, false]);
  });

  it("cuts a path that is too long, and masks what has the form of a secret", async () => {
    const long = aLoggedRequest({ path: `/${"x".repeat(300)}` });
    recorder.add(long);
    recorder.add(aLoggedRequest({ path: "/api/v1/jobs/secret" }));
    await clock.advance(FLUSH_MS);
    expect([...storage.rows.values()].map(({ path }) => path)).to.deep.equal([
      `/${"x".repeat(253)}…`,
      "/api/v1/jobs/[redacted]",
    ]);
  });

  describe("flush", () => {
    it("resolves when everything added before it is written", async () => {
      const requests = add(BATCH_MAX + 1);
      await recorder.flush();
      expect(storage.batches).to.deep.equal([BATCH_MAX, 1]);
      expect([...storage.rows.values()]).to.deep.equal(requests);
    });

    it("waits for a batch under way, and for no row that comes later", async () => {
      let release = (): void => undefined;
      storage.response = () => new Promise((resolve) => (release = resolve));
      add(1);
      await clock.advance(FLUSH_MS);
      let flushed = false;
      const flush = recorder.flush().then(() => (flushed = true));
      add(1);
      await clock.advance(0);
      expect(flushed).to.equal(false);
      release();
      await flush;
      expect(storage.rows.size).to.equal(1);
    });

    it("of several at once writes a row once", async () => {
      add(3);
      await Promise.all([recorder.flush(), recorder.flush(), recorder.flush()]);
      expect(storage.batches).to.deep.equal([3]);
    });

    it("resolves at once when nothing waits", async () => {
      await recorder.flush();
      expect(storage.batches).to.deep.equal([]);
    });

    it("does not wait for a storage that takes no rows", async () => {
      storage.response = outage;
      add(1);
      await recorder.flush();
      await recorder.flush();
      expect(storage.batches).to.deep.equal([1]);
    });
  });

  describe("while the storage takes no rows", () => {
    it("keeps them, tries again after longer and longer pauses, and writes all when it is back", async () => {
      storage.response = outage;
      const requests = add(2 * BATCH_MAX);
      const triesAfter = async (ms: number): Promise<number> => {
        await clock.advance(ms);
        return storage.batches.length;
      };
      expect(await triesAfter(0)).to.equal(1);
      expect(await triesAfter(999)).to.equal(1);
      expect(await triesAfter(1)).to.equal(2);
      expect(await triesAfter(2_000)).to.equal(3);
      expect(await triesAfter(4_000)).to.equal(4);
      expect(await triesAfter(5_000)).to.equal(5);
      expect(await triesAfter(5_000)).to.equal(6);
      storage.response = () => Promise.resolve();
      await clock.advance(5_000);
      expect([...storage.rows.values()]).to.deep.equal(requests);
      expect(dropped).to.equal(0);
      expect(messages()).to.deep.equal(["The storage takes no request log rows; they wait"]);
    });

    it("is as quick as ever once it is over", async () => {
      storage.response = outage;
      add(1);
      await clock.advance(10_000);
      storage.response = () => Promise.resolve();
      await clock.advance(5_000);
      add(1);
      await clock.advance(FLUSH_MS);
      expect(storage.rows.size).to.equal(2);
    });

    it("keeps so many rows and drops what comes then, counted", async () => {
      storage.response = outage;
      const kept = add(WAITING_MAX);
      await clock.advance(10_000);
      add(25);
      expect(dropped).to.equal(25);
      expect(messages()).to.deep.equal([
        "The storage takes no request log rows; they wait",
        "Request log rows are dropped",
      ]);
      storage.response = () => Promise.resolve();
      await clock.advance(5_000);
      expect([...storage.rows.values()]).to.deep.equal(kept);
      add(1);
      await recorder.flush();
      expect(storage.rows.size).to.equal(WAITING_MAX + 1);
    });
  });

  it("gives up a row that the storage refuses for good, counted, and writes the others", async () => {
    const requests = add(9);
    const spoils = ({ id }: LoggedRequest): boolean => id === requests[6]?.id;
    storage.response = (batch) =>
      batch.some(spoils) ? Promise.reject(new Error("too long for its column")) : Promise.resolve();
    await recorder.flush();
    expect([...storage.rows.keys()]).to.have.members(requests.filter((_, index) => index !== 6).map(({ id }) => id));
    expect(dropped).to.equal(1);
    expect(logger.lines.map(({ message, fields }) => [message, fields["request_id"]])).to.deep.equal([
      ["A request log row was refused", requests[6]?.id],
    ]);
    add(1);
    await recorder.flush();
    expect(storage.rows.size).to.equal(9);
  });

  describe("close", () => {
    it("writes what waits, however much it is", async () => {
      add(2 * BATCH_MAX + 1);
      await recorder.close(1_000);
      expect(storage.rows.size).to.equal(2 * BATCH_MAX + 1);
      expect(clock.sleeping).to.equal(0);
    });

    it("tries again within its time", async () => {
      storage.response = outage;
      add(3);
      await clock.advance(60_000);
      const closed = recorder.close(1_000);
      await clock.advance(500);
      storage.response = () => Promise.resolve();
      await clock.advance(100);
      await closed;
      expect([storage.rows.size, dropped]).to.deep.equal([3, 0]);
    });

    it("drops what cannot be written in time, counted, and ends", async () => {
      storage.response = outage;
      add(3);
      const closed = recorder.close(1_000);
      await clock.advance(1_000);
      await closed;
      expect(dropped).to.equal(3);
      await recorder.flush();
      expect(clock.sleeping).to.equal(0);
    });

    it("does not wait for a write that hangs", async () => {
      storage.response = () => new Promise(() => undefined);
      add(3);
      await clock.advance(FLUSH_MS);
      const closed = recorder.close(1_000);
      await clock.advance(1_000);
      await closed;
      expect(dropped).to.equal(3);
    });

    it("takes no more rows: they are counted", async () => {
      await recorder.close(1_000);
      add(2);
      await clock.advance(10_000);
      expect([storage.rows.size, dropped]).to.deep.equal([0, 2]);
    });
  });
});
