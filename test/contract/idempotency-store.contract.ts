import { expect } from "chai";
import type { IdempotencyRecord, IdempotencyKey } from "../../core/ports/idempotency-store.js";
import { aHash, anId, anIdempotencyRecord, NOON } from "../support/builders.js";
import type { StorageWith } from "../support/storage-under-test.js";

type Storage = StorageWith<"idempotency">;

/**
 * The promises of every `IdempotencyStore`.
 *
 * @param open opens a storage without rows, once for the suite; {@link storageUnderTest} creates it
 */
export function idempotencyStoreContract(name: string, open: () => Promise<Storage>): void {
  describe(`IdempotencyStore contract: ${name}`, () => {
    let storage: Storage;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    const insert = (records: readonly IdempotencyRecord[], now = NOON): Promise<void> =>
      storage.inTransaction((tx) => storage.idempotency.insertRecords(tx, records, now));
    const find = (keys: readonly IdempotencyKey[], now = NOON): Promise<IdempotencyRecord[]> =>
      storage.inTransaction((tx) => storage.idempotency.findRecords(tx, keys, now));
    const deleteExpired = (now: number, limit: number): Promise<number> =>
      storage.inTransaction((tx) => storage.idempotency.deleteExpired(tx, now, limit));

    it("stores every member, the response to the byte", async () => {
      const response = { status: 502, body: '{ "text": "Ä 🎼 \\ud800 \\u0000",\r\n "n": 1.0 }' };
      const record = anIdempotencyRecord({ response: response });
      await insert([record]);
      expect(await find([record])).to.deep.equal([record]);
    });

    it("finds the records of several keys and omits unknown keys", async () => {
      const records = Array.from({ length: 300 }, () => anIdempotencyRecord());
      await insert(records);
      const keys = [...records, { accountId: anId("acct"), keyHash: aHash() }];
      expect(await find(keys)).to.have.deep.members(records);
      expect(await storage.idempotency.readRecords(keys, NOON)).to.have.deep.members(records);
    });

    it("separates equal keys of two accounts", async () => {
      const first = anIdempotencyRecord();
      const second = anIdempotencyRecord({ keyHash: first.keyHash });
      await insert([first, second]);
      expect(await find([second])).to.deep.equal([second]);
      expect(await find([{ accountId: anId("acct"), keyHash: first.keyHash }])).to.deep.equal([]);
    });

    it("accepts empty lists", async () => {
      await insert([]);
      expect(await find([])).to.deep.equal([]);
      expect(await storage.idempotency.readRecords([], NOON)).to.deep.equal([]);
    });

    it("finds what its own transaction inserted", async () => {
      const record = anIdempotencyRecord();
      const found = await storage.inTransaction(async (tx) => {
        await storage.idempotency.insertRecords(tx, [record], NOON);
        const outside = await storage.idempotency.readRecords([record], NOON);
        return [await storage.idempotency.findRecords(tx, [record], NOON), outside];
      });
      expect(found, "within it, and outside before it is committed").to.deep.equal([[record], []]);
      expect(await storage.idempotency.readRecords([record], NOON)).to.deep.equal([record]);
    });

    it("refuses a second record of an unexpired key, and keeps the first", async () => {
      const record = anIdempotencyRecord();
      await insert([record]);
      const another = anIdempotencyRecord({ accountId: record.accountId, keyHash: record.keyHash });
      expect(await insert([another]).catch((error: unknown) => error)).to.be.instanceOf(Error);
      expect(await find([record])).to.deep.equal([record]);
    });

    it("no longer finds a record from the moment it expires", async () => {
      const record = anIdempotencyRecord({ expiresAt: NOON + 10 });
      await insert([record]);
      expect(await find([record], NOON + 9)).to.deep.equal([record]);
      expect(await find([record], NOON + 10)).to.deep.equal([]);
      expect(await storage.idempotency.readRecords([record], NOON + 9)).to.deep.equal([record]);
      expect(await storage.idempotency.readRecords([record], NOON + 10)).to.deep.equal([]);
    });

    it("replaces an expired record", async () => {
      const expired = anIdempotencyRecord({ expiresAt: NOON });
      await insert([expired], NOON - 1);
      const fresh = anIdempotencyRecord({ accountId: expired.accountId, keyHash: expired.keyHash });
      await insert([fresh], NOON);
      expect(await find([expired])).to.deep.equal([fresh]);
    });

    it("replaces the expired record of one account alone", async () => {
      const expired = anIdempotencyRecord({ expiresAt: NOON });
      const other = anIdempotencyRecord({ expiresAt: NOON, keyHash: expired.keyHash });
      await insert([expired, other], NOON - 1);
      const fresh = anIdempotencyRecord({ accountId: expired.accountId, keyHash: expired.keyHash });
      await insert([fresh], NOON);
      expect(await find([expired, other], NOON - 1)).to.have.deep.members([fresh, other]);
    });

    it("replaces a response and nothing else", async () => {
      const record = anIdempotencyRecord();
      const other = anIdempotencyRecord({ keyHash: record.keyHash, jobId: record.jobId });
      await insert([record, other]);
      const response = { status: 502, body: "later" };
      await storage.inTransaction((tx) => storage.idempotency.updateResponse(tx, record, response));
      expect(await find([record, other])).to.have.deep.members([{ ...record, response: response }, other]);
    });

    it("does not replace the response of a newer job under the same key", async () => {
      const expired = anIdempotencyRecord({ expiresAt: NOON });
      await insert([expired], NOON - 1);
      const fresh = anIdempotencyRecord({ accountId: expired.accountId, keyHash: expired.keyHash });
      await insert([fresh], NOON);
      const late = { status: 502, body: "of the job before" };
      await storage.inTransaction((tx) => storage.idempotency.updateResponse(tx, expired, late));
      expect(await find([fresh])).to.deep.equal([fresh]);
    });

    it("changes nothing when there is no record", async () => {
      const key = { accountId: anId("acct"), keyHash: aHash(), jobId: anId("job") };
      const response = { status: 202, body: "" };
      await storage.inTransaction((tx) => storage.idempotency.updateResponse(tx, key, response));
      expect(await find([key])).to.deep.equal([]);
    });

    it("deletes expired records up to the limit, and returns their number", async () => {
      const longAgo = NOON - 1_000_000;
      const expired = [1, 2, 3].map((offset) => anIdempotencyRecord({ expiresAt: longAgo + offset }));
      const alive = anIdempotencyRecord({ expiresAt: longAgo + 4 });
      await insert([...expired, alive], longAgo);
      expect(await deleteExpired(longAgo + 3, 2)).to.equal(2);
      expect(await deleteExpired(longAgo + 3, 2)).to.equal(1);
      expect(await deleteExpired(longAgo + 3, 2)).to.equal(0);
      expect(await find([...expired, alive], longAgo)).to.deep.equal([alive]);
    });

    it("deletes nothing under a limit of 0", async () => {
      await insert([anIdempotencyRecord({ expiresAt: NOON - 2_000_000 })], NOON - 3_000_000);
      expect(await deleteExpired(NOON - 2_000_000, 0)).to.equal(0);
    });
  });
}
