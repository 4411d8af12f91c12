import { expect } from "chai";
import { API_KEYS } from "../../adapters/storage/sql/accounts/account-tables.js";
import { aHash, anApiKey } from "../support/builders.js";
import { migrateAgain, oldMysql, oldSqlite } from "../support/old-schema.js";

const NAME = "0030-external-ids";

for (const { name, openBefore } of [oldSqlite, oldMysql]) {
  describe(`Accounts from before external ids: ${name}`, () => {
    it("have none, keep their keys, and new ones can have one, also when the migration was interrupted", async () => {
      const storage = await openBefore(NAME);
      const accounts = [await storage.addAccount(), await storage.addAccount()];
      const [account] = accounts as [(typeof accounts)[0]];
      const key = anApiKey({ accountId: account.id });
      // The store's own insert has a later column.
      const { last_used_at: _later, ...row } = API_KEYS.toRow(key);
      await storage.database.write("fermata_api_keys").insert(row);
      expect((await storage.database.migrate())[0]).to.equal(NAME);
      await migrateAgain(storage.database, NAME);
      const found = await storage.accounts.findAccounts(accounts.map(({ id }) => id));
      expect([...found.values()]).to.deep.equal(accounts);
      expect(account.externalId).to.equal(null);
      expect((await storage.accounts.findKeyHolders([key.tokenHash])).get(key.tokenHash)).to.deep.equal({
        key,
        account,
      });
      const newer = await storage.addAccount({ externalId: aHash() });
      const second = storage.addAccount({ externalId: newer.externalId });
      expect(await second.catch((error: unknown) => error)).to.be.instanceOf(Error);
      await storage.close();
    });
  });
}
