import { expect } from "chai";
import { FLUSH_MS, RecordKeyUses, USE_EVERY_MS } from "../../../../core/accounts/record-key-uses.js";
import type { ApiKeyId } from "../../../../core/ids.js";
import type { KeyUse } from "../../../../core/ports/account-store.js";
import type { Transaction, TransactionWork } from "../../../../core/ports/unit-of-work.js";
import { anId } from "../../../support/builders.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";
import { RecordingLogger } from "../../../support/doubles/recording-logger.js";

describe("RecordKeyUses", () => {
  let clock: ManualClock;
  let logger: RecordingLogger;
  let stored: Map<ApiKeyId, number>;
  let writes: number;
  let isAway: boolean;
  let uses: RecordKeyUses;
  beforeEach(() => {
    clock = new ManualClock();
    logger = new RecordingLogger();
    stored = new Map();
    [writes, isAway] = [0, false];
    const noteKeyUses = (_tx: Transaction, given: readonly KeyUse[]): Promise<void> => {
      if (isAway) return Promise.reject(new Error("the storage is away"));
      writes += 1;
      for (const { id, usedAt } of given) stored.set(id, usedAt);
      return Promise.resolve();
    };
    const inTransaction = <T>(work: TransactionWork<T>): Promise<T> => work({} as Transaction, { isRetry: false });
    uses = new RecordKeyUses({
      accounts: { noteKeyUses },
      unitOfWork: { inTransaction, concurrentWriters: 1 },
      clock,
      logger,
    });
  });

  /** As a request does that was authenticated with this key. */
  const use = (id: ApiKeyId): void => uses.note({ id, lastUsedAt: stored.get(id) ?? null });

  it("writes uses of many keys together, a moment after the first", async () => {
    const keys = [anId("key"), anId("key"), anId("key")];
    for (const key of keys) use(key);
    expect(writes).to.equal(0);
    await clock.advance(FLUSH_MS);
    expect([writes, [...stored.keys()]]).to.deep.equal([1, keys]);
  });

  it("writes a key that is used all the time once a minute, and is never further behind than that", async () => {
    const key = anId("key");
    for (let second = 0; second < 180; second += 1) {
      use(key);
      await clock.advance(FLUSH_MS);
      expect(clock.now() - (stored.get(key) ?? 0)).to.be.at.most(USE_EVERY_MS + FLUSH_MS);
    }
    expect(writes).to.equal(3);
  });

  it("keeps what could not be written, and writes the last use when the storage is back", async () => {
    const key = anId("key");
    isAway = true;
    use(key);
    await clock.advance(FLUSH_MS);
    await clock.advance(1_000);
    use(key);
    const last = clock.now();
    isAway = false;
    await clock.advance(60_000);
    expect(stored.get(key)).to.equal(last);
    expect(logger.lines.map(({ level }) => level)).to.deep.equal(["error"]);
  });

  it("writes what waits when it is closed, and only warns when it cannot", async () => {
    const [one, other] = [anId("key"), anId("key")];
    use(one);
    await uses.close();
    expect(stored.get(one)).to.equal(clock.now());
    isAway = true;
    use(other);
    await uses.close();
    expect(logger.lines.map(({ level }) => level)).to.deep.equal(["warn"]);
  });
});
