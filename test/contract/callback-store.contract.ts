import { expect } from "chai";
import type { StoredCallback } from "../../core/ports/callback-store.js";
import { aHash, anId, NOON } from "../support/builders.js";
import type { StorageWith } from "../support/storage-under-test.js";

type Storage = StorageWith<"callbacks">;

function aCallback(overrides: Partial<StoredCallback> = {}): StoredCallback {
  return {
    id: anId("cbk"),
    jobId: anId("job"),
    providerId: "nightingale",
    attempt: null,
    digest: aHash(),
    headers: { "x-signature": "v1,abc" },
    query: {},
    body: new TextEncoder().encode('{"state":"done"}'),
    receivedAt: NOON,
    ...overrides,
  };
}

/**
 * The promises of every `CallbackStore`.
 *
 * @param open opens a storage without rows, once for the suite; {@link storageUnderTest} creates it
 */
export function callbackStoreContract(name: string, open: () => Promise<Storage>): void {
  describe(`CallbackStore contract: ${name}`, () => {
    let storage: Storage;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    const insert = (callback: StoredCallback): Promise<boolean> =>
      storage.inTransaction((tx) => storage.callbacks.insert(tx, callback));

    it("stores every member, and every byte of the body", async () => {
      const body = new Uint8Array(70_000).map((_, index) => index % 256);
      const callback = aCallback({ body, attempt: 2, headers: { "x-ü": "🎼" }, query: { stage: "first" } });
      expect(await insert(callback)).to.equal(true);
      expect(await storage.callbacks.unread(callback.jobId, 10)).to.deep.equal([callback]);
    });

    it("stores an empty body", async () => {
      const callback = aCallback({ body: new Uint8Array() });
      await insert(callback);
      expect(await storage.callbacks.unread(callback.jobId, 10)).to.deep.equal([callback]);
    });

    it("stores equal callbacks of a job once, and those of another job separately", async () => {
      const callback = aCallback();
      expect(await insert(callback)).to.equal(true);
      expect(await insert({ ...callback, id: anId("cbk") })).to.equal(false);
      expect(await insert({ ...callback, id: anId("cbk"), jobId: anId("job") })).to.equal(true);
      expect(await storage.callbacks.unread(callback.jobId, 10)).to.deep.equal([callback]);
    });

    it("does not store a callback equal to one that was read", async () => {
      const callback = aCallback();
      await insert(callback);
      await storage.inTransaction((tx) => storage.callbacks.markRead(tx, [callback.id], NOON));
      expect(await insert({ ...callback, id: anId("cbk") })).to.equal(false);
    });

    it("returns the unread callbacks of a job, in order of arrival", async () => {
      const jobId = anId("job");
      const [second, first, third] = [2, 1, 3].map((after) => aCallback({ jobId, receivedAt: NOON + after })) as [
        StoredCallback,
        StoredCallback,
        StoredCallback,
      ];
      for (const callback of [second, first, third, aCallback()]) await insert(callback);
      expect(await storage.callbacks.unread(jobId, 2)).to.deep.equal([first, second]);
      await storage.inTransaction((tx) => storage.callbacks.markRead(tx, [first.id, second.id], NOON));
      expect(await storage.callbacks.unread(jobId, 2)).to.deep.equal([third]);
    });

    it("returns the unread callbacks of several jobs, as the transaction sees them", async () => {
      const [callback, second] = [aCallback(), aCallback()];
      const third = aCallback({ jobId: second.jobId });
      const jobIds = [callback.jobId, second.jobId, anId("job")];
      const states = await storage.inTransaction(async (tx) => {
        const before = await storage.callbacks.unreadIn(tx, jobIds);
        for (const one of [callback, second, third]) await storage.callbacks.insert(tx, one);
        const kept = await storage.callbacks.unreadIn(tx, jobIds);
        await storage.callbacks.markRead(tx, [callback.id, second.id], NOON);
        return [before, kept, await storage.callbacks.unreadIn(tx, jobIds)] as const;
      });
      const sorted = states.map((state) => [...state].map(([jobId, ids]) => [jobId, [...ids].sort()]));
      expect(sorted).to.deep.equal([
        [],
        [
          [callback.jobId, [callback.id]],
          [second.jobId, [second.id, third.id].sort()],
        ],
        [[second.jobId, [third.id]]],
      ]);
      await storage.inTransaction(async (tx) => expect(await storage.callbacks.countOf(tx, second.jobId)).to.equal(2));
    });

    it("deletes callbacks from before a moment, oldest first, up to the limit", async () => {
      const jobId = anId("job");
      const old = [1, 2, 3].map((minute) => aCallback({ jobId, receivedAt: minute }));
      const fresh = aCallback({ jobId });
      for (const callback of [...old, fresh]) await insert(callback);
      const remove = (): Promise<number> => storage.inTransaction((tx) => storage.callbacks.deleteOld(tx, 4, 2));
      expect(await remove()).to.equal(2);
      expect(await storage.callbacks.unread(jobId, 10)).to.deep.equal([old[2], fresh]);
      expect([await remove(), await remove()]).to.deep.equal([1, 0]);
      expect(await storage.callbacks.unread(jobId, 10)).to.deep.equal([fresh]);
    });
  });
}
