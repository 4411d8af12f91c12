import { expect } from "chai";
import type { AdminToken } from "../../core/ports/admin-token.js";
import { aHash, anId, NOON } from "../support/builders.js";
import type { StorageWith } from "../support/storage-under-test.js";

type Storage = StorageWith<"adminTokens">;

/**
 * The promises of every `AdminTokenStore`.
 *
 * @param open opens a storage without rows, once for the suite; {@link storageUnderTest} creates it
 */
export function adminTokenStoreContract(name: string, open: () => Promise<Storage>): void {
  describe(`AdminTokenStore contract: ${name}`, () => {
    let storage: Storage;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    const aToken = (overrides: Partial<AdminToken> = {}): AdminToken => ({
      id: anId("adm"),
      name: "Ömer 🎹",
      role: "operate",
      tokenHash: aHash(),
      shownPrefix: "fra_abcdefgh",
      createdAt: NOON,
      expiresAt: null,
      revokedAt: null,
      ...overrides,
    });
    const add = (token: AdminToken): Promise<void> =>
      storage.inTransaction((tx) => storage.adminTokens.insertAdminToken(tx, token));
    const revoke = (id: AdminToken["id"], at: number): Promise<boolean> =>
      storage.inTransaction((tx) => storage.adminTokens.revokeAdminToken(tx, id, at));

    it("stores every member and finds tokens by their hash", async () => {
      const [one, other] = [
        aToken({ expiresAt: NOON + 1, role: "owner" }),
        aToken({ revokedAt: NOON + 2, role: "read" }),
      ];
      await add(one);
      await add(other);
      expect(await storage.adminTokens.findAdminToken(one.tokenHash)).to.deep.equal(one);
      expect(await storage.adminTokens.findAdminToken(other.tokenHash)).to.deep.equal(other);
      expect(await storage.adminTokens.findAdminToken(aHash())).to.equal(null);
    });

    it("lists all, the newest first", async () => {
      const [first, second] = [anId("adm"), anId("adm")].sort() as [AdminToken["id"], AdminToken["id"]];
      const [older, newer] = [aToken({ id: first }), aToken({ id: second })];
      await add(older);
      await add(newer);
      const ids = (await storage.adminTokens.listAdminTokens()).map(({ id }) => id);
      expect(ids.filter((id) => id === older.id || id === newer.id)).to.deep.equal([newer.id, older.id]);
    });

    it("refuses a hash that is there", async () => {
      const token = aToken();
      await add(token);
      expect(await add(aToken({ tokenHash: token.tokenHash })).catch((error: unknown) => error)).to.be.instanceOf(
        Error,
      );
    });

    it("revokes a token once, and none that is not there", async () => {
      const token = aToken();
      await add(token);
      expect(await revoke(token.id, NOON + 5)).to.equal(true);
      expect(await revoke(token.id, NOON + 9)).to.equal(true);
      expect((await storage.adminTokens.findAdminToken(token.tokenHash))?.revokedAt).to.equal(NOON + 5);
      expect(await revoke(anId("adm"), NOON)).to.equal(false);
    });
  });
}
