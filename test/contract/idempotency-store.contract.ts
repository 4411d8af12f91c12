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

    const insert = (records: readonly IdempotencyRecord[]): Promise<void> =>
      storage.inTransaction((tx) => storage.idempotency.insertRecords(tx, records));
    const find = (keys: readonly IdempotencyKey[]): Promise<IdempotencyRecord[]> =>
      storage.inTransaction((tx) => storage.idempotency.findRecords(tx, keys));
    const free = (keys: readonly IdempotencyKey[], now: number): Promise<void> =>
      storage.inTransaction((tx) => storage.idempotency.freeKeys(tx, keys, now));
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
      expect(await storage.idempotency.readRecords(keys)).to.have.deep.members(records);
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
      await free([], NOON);
      expect(await find([])).to.deep.equal([]);
      expect(await storage.idempotency.readRecords([])).to.deep.equal([]);
    });

    it("finds what its own transaction inserted", async () => {
      const record = anIdempotencyRecord();
      const found = await storage.inTransaction(async (tx) => {
        await storage.idempotency.insertRecords(tx, [record]);
        const outside = await storage.idempotency.readRecords([record]);
        return [await storage.idempotency.findRecords(tx, [record]), outside];
      });
      expect(found, "within it, and outside before it is committed").to.deep.equal([[record], []]);
      expect(await storage.idempotency.readRecords([record])).to.deep.equal([record]);
    });

    it("finds a key that is asked for twice once", async () => {
      const [record, other] = [anIdempotencyRecord(), anIdempotencyRecord()];
      await insert([record, other]);
      const keys = [record, other, record];
      expect(await find(keys))
        .to.have.deep.members([record, other])
        .and.lengthOf(2);
      expect(await storage.idempotency.readRecords(keys))
        .to.have.deep.members([record, other])
        .and.lengthOf(2);
    });

    it("refuses a second record of a key, expired or not, adds nothing and keeps the first", async () => {
      for (const record of [anIdempotencyRecord(), anIdempotencyRecord({ expiresAt: NOON - 1 })]) {
        await insert([record]);
        const another = anIdempotencyRecord({ accountId: record.accountId, keyHash: record.keyHash });
        const alone = anIdempotencyRecord();
        expect(await insert([alone, another]).catch((error: unknown) => error)).to.be.instanceOf(Error);
        expect(await find([record, alone])).to.deep.equal([record]);
      }
    });

    it("frees the keys of records from the moment they expire, and no others", async () => {
      const [first, second] = [NOON, NOON + 1].map((expiresAt) => anIdempotencyRecord({ expiresAt }));
      const records = [first as IdempotencyRecord, second as IdempotencyRecord];
      const other = anIdempotencyRecord({ expiresAt: NOON, keyHash: records[0]?.keyHash ?? "" });
      await insert([...records, other]);
      await free(records, NOON - 1);
      expect(await find([...records, other])).to.have.deep.members([...records, other]);
      await free([...records, anIdempotencyRecord()], NOON);
      expect(await find([...records, other])).to.have.deep.members([second, other]);
    });

    it("frees a key for the next record in the same transaction", async () => {
      const expired = anIdempotencyRecord({ expiresAt: NOON });
      await insert([expired]);
      const fresh = anIdempotencyRecord({ accountId: expired.accountId, keyHash: expired.keyHash });
      await storage.inTransaction(async (tx) => {
        await storage.idempotency.freeKeys(tx, [expired], NOON);
        await storage.idempotency.insertRecords(tx, [fresh]);
      });
      expect(await find([expired])).to.deep.equal([fresh]);
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
      await insert([expired]);
      const fresh = anIdempotencyRecord({ accountId: expired.accountId, keyHash: expired.keyHash });
      await free([expired], NOON);
      await insert([fresh]);
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
      await insert([...expired, alive]);
      expect(await deleteExpired(longAgo + 3, 2)).to.equal(2);
      expect(await deleteExpired(longAgo + 3, 2)).to.equal(1);
      expect(await deleteExpired(longAgo + 3, 2)).to.equal(0);
      expect(await find([...expired, alive])).to.deep.equal([alive]);
    });

    it("deletes nothing under a limit of 0", async () => {
      await insert([anIdempotencyRecord({ expiresAt: NOON - 2_000_000 })]);
      expect(await deleteExpired(NOON - 2_000_000, 0)).to.equal(0);
    });
  });
}
