import { expect } from "chai";
import type { RateCount } from "../../core/ports/rate-count-store.js";
import { anId, NOON } from "../support/builders.js";
import type { StorageWith } from "../support/storage-under-test.js";

type Storage = StorageWith<"rateCounts">;

/**
 * The promises of every `RateCountStore`.
 *
 * @param open opens a storage without rows, once for the suite; {@link storageUnderTest} creates it
 */
export function rateCountStoreContract(name: string, open: () => Promise<Storage>): void {
  describe(`RateCountStore contract: ${name}`, () => {
    let storage: Storage;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    const aCount = (overrides: Partial<RateCount> = {}): RateCount => ({
      subject: `read ${anId("acct")}`,
      windowSeconds: 60,
      startedAt: NOON,
      count: 1,
      ...overrides,
    });
    const find = (...subjects: string[]): Promise<RateCount[]> =>
      storage.inTransaction((tx) => storage.rateCounts.lockCounts(tx, subjects));
    const insert = (...counts: RateCount[]): Promise<void> =>
      storage.inTransaction((tx) => storage.rateCounts.insertCounts(tx, counts));

    it("stores a count for each subject and window length", async () => {
      const minute = aCount({ count: 3 });
      const day = { ...minute, windowSeconds: 86_400, count: 40_000 };
      const other = aCount();
      await insert(minute, day, other);
      expect(await find(minute.subject)).to.have.deep.members([minute, day]);
      expect(await find(minute.subject, other.subject)).to.have.deep.members([minute, day, other]);
    });

    it("omits unknown counts, and returns none twice", async () => {
      const count = aCount();
      await insert(count);
      expect(await find()).to.deep.equal([]);
      expect(await find(aCount().subject, count.subject, count.subject)).to.deep.equal([count]);
    });

    it("accepts the longest subject", async () => {
      const count = aCount({ subject: `generation ${"a".repeat(69)}` });
      await insert(count);
      expect(await find(count.subject)).to.deep.equal([count]);
    });

    it("replaces a whole count", async () => {
      const [count, other] = [aCount(), aCount()];
      await insert(count, other);
      const next = { ...count, startedAt: NOON + 60_000, count: 7 };
      await storage.inTransaction((tx) => storage.rateCounts.replaceCounts(tx, [next]));
      expect(await find(count.subject, other.subject)).to.have.deep.members([next, other]);
    });

    it("inserts a count once: a concurrent transaction runs again and finds it", async () => {
      const count = aCount({ count: 0 });
      const addOne = (): Promise<void> =>
        storage.inTransaction(async (tx) => {
          const [found] = await storage.rateCounts.lockCounts(tx, [count.subject]);
          if (found === undefined) await storage.rateCounts.insertCounts(tx, [{ ...count, count: 1 }]);
          else await storage.rateCounts.replaceCounts(tx, [{ ...found, count: found.count + 1 }]);
        });
      await Promise.all([addOne(), addOne(), addOne(), addOne()]);
      expect(await find(count.subject)).to.deep.equal([{ ...count, count: 4 }]);
    });

    it("deletes counts of ended windows up to the limit, and returns their number", async () => {
      const longAgo = NOON - 1_000_000_000;
      const ended = [1, 2, 3].map((seconds) => aCount({ startedAt: longAgo + seconds * 1000 }));
      const running = aCount({ startedAt: longAgo + 4_000 });
      const subjects = [...ended, running].map(({ subject }) => subject);
      await insert(...ended, running);
      const deleteEnded = (limit: number): Promise<number> =>
        storage.inTransaction((tx) => storage.rateCounts.deleteEnded(tx, longAgo + 63_000, limit));
      expect(await deleteEnded(2)).to.equal(2);
      expect(await find(...subjects)).to.have.deep.members([ended[2], running]);
      expect([await deleteEnded(2), await deleteEnded(2)]).to.deep.equal([1, 0]);
      expect(await find(...subjects)).to.deep.equal([running]);
    });

    it("changes nothing when the transaction fails", async () => {
      const count = aCount();
      const failed = await storage
        .inTransaction(async (tx) => {
          await storage.rateCounts.insertCounts(tx, [count]);
          throw new Error("no");
        })
        .catch((error: Error) => error.message);
      expect([failed, await find(count.subject)]).to.deep.equal(["no", []]);
    });
  });
}
