import { expect } from "chai";
import type { AccountId } from "../../core/ids.js";
import type { Upload, UploadUsage } from "../../core/ports/upload-store.js";
import { anId, NOON } from "../support/builders.js";
import type { StorageWith } from "../support/storage-under-test.js";

type Storage = StorageWith<"addAccount" | "uploads">;

/**
 * The promises of every `UploadStore`.
 *
 * @param open opens a storage without rows, once for the suite; {@link storageUnderTest} creates it
 */
export function uploadStoreContract(name: string, open: () => Promise<Storage>): void {
  describe(`UploadStore contract: ${name}`, () => {
    let storage: Storage;
    let accountId: AccountId;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());
    beforeEach(async () => {
      accountId = (await storage.addAccount()).id;
    });

    const anUpload = (overrides: Partial<Upload> = {}): Upload => {
      return { trackId: anId("trk"), accountId, sizeBytes: 1_000, createdAt: NOON, storedAt: null, ...overrides };
    };
    const insert = async (...uploads: readonly Upload[]): Promise<void> => {
      for (const upload of uploads) await storage.inTransaction((tx) => storage.uploads.insertUpload(tx, upload));
    };
    const usage = (begunFrom: number): Promise<UploadUsage> =>
      storage.inTransaction((tx) => storage.uploads.usageOf(tx, accountId, begunFrom));
    const find = async (...uploads: readonly Upload[]): Promise<Upload[]> => {
      const found = await storage.uploads.findUploads(uploads.map(({ trackId }) => trackId));
      return uploads.flatMap(({ trackId }) => found.get(trackId) ?? []);
    };

    it("finds inserted uploads, and omits unknown ones", async () => {
      const [one, other] = [anUpload(), anUpload({ sizeBytes: 16_384 * 1024 * 1024, storedAt: NOON + 5 })];
      await insert(one, other);
      expect(await find(one, anUpload(), other)).to.deep.equal([one, other]);
    });

    it("counts stored uploads of the account, and those begun since a moment", async () => {
      expect(await usage(0)).to.deep.equal({ tracks: 0, bytes: 0 });
      const huge = 9_000_000_000_000;
      await insert(
        anUpload({ sizeBytes: huge, createdAt: NOON - 10, storedAt: NOON }),
        anUpload({ sizeBytes: 3, createdAt: NOON }),
        anUpload({ sizeBytes: 5, createdAt: NOON - 1 }),
        anUpload({ accountId: anId("acct"), storedAt: NOON }),
      );
      expect(await usage(NOON)).to.deep.equal({ tracks: 2, bytes: huge + 3 });
      expect(await usage(NOON - 1)).to.deep.equal({ tracks: 3, bytes: huge + 8 });
    });

    it("marks an upload as stored once, with its size", async () => {
      const upload = anUpload();
      await insert(upload);
      const stored = { trackId: upload.trackId, sizeBytes: 7 };
      const store = (storedAt: number): Promise<boolean> =>
        storage.inTransaction((tx) => storage.uploads.markStored(tx, { ...stored, storedAt }));
      expect([await store(NOON + 1), await store(NOON + 2)]).to.deep.equal([true, false]);
      expect(await find(upload)).to.deep.equal([{ ...upload, sizeBytes: 7, storedAt: NOON + 1 }]);
      const unknown = { trackId: anId("trk"), sizeBytes: 7, storedAt: NOON };
      expect(await storage.inTransaction((tx) => storage.uploads.markStored(tx, unknown))).to.equal(false);
    });

    it("deletes an upload unless it is stored", async () => {
      const [begun, stored] = [anUpload(), anUpload({ storedAt: NOON })];
      await insert(begun, stored);
      for (const { trackId } of [begun, stored, anUpload()]) {
        await storage.inTransaction((tx) => storage.uploads.deleteUnstored(tx, trackId));
      }
      expect(await find(begun, stored)).to.deep.equal([stored]);
    });

    it("deletes uploads that were never stored, oldest first, up to the limit", async () => {
      await storage.inTransaction((tx) => storage.uploads.deleteAbandoned(tx, Number.MAX_SAFE_INTEGER, 1_000));
      const begun = [1, 2, 3, 4].map((age) => anUpload({ createdAt: NOON - age }));
      const stored = anUpload({ createdAt: NOON - 9, storedAt: NOON });
      await insert(...begun, stored);
      const step = (): Promise<number> =>
        storage.inTransaction((tx) => storage.uploads.deleteAbandoned(tx, NOON - 1, 2));
      expect(await step()).to.equal(2);
      expect(await find(...begun, stored)).to.deep.equal([begun[0], begun[1], stored]);
      expect([await step(), await step()]).to.deep.equal([1, 0]);
      expect(await find(...begun, stored)).to.deep.equal([begun[0], stored]);
    });
  });
}
