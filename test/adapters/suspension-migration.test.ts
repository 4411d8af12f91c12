import { expect } from "chai";
import { anApiKey, NOON } from "../support/builders.js";
import { sqliteStorage } from "../support/databases.js";
import { mysqlStorage } from "../support/mysql.js";

const NAME = "0020-suspension";
const COLUMNS = [
  ["fermata_accounts", "suspended_at"],
  ["fermata_accounts", "suspended_reason"],
  ["fermata_api_keys", "expires_at"],
] as const;

for (const { name, open } of [sqliteStorage, mysqlStorage]) {
  describe(`Accounts and keys from before suspension: ${name}`, () => {
    it("are active and do not expire, also when the migration was interrupted", async () => {
      const storage = await open();
      const { write, dialect } = storage.database;
      const account = await storage.addAccount();
      const key = anApiKey({ accountId: account.id, createdAt: NOON });
      await storage.inTransaction((tx) => storage.accounts.insertKeys(tx, [key]));
      const drop =
        dialect.name === "mysql"
          ? "DROP INDEX fermata_accounts_suspended ON fermata_accounts"
          : "DROP INDEX fermata_accounts_suspended";
      const forget = async (columns: readonly (readonly [table: string, column: string])[]): Promise<void> => {
        await write.raw(drop);
        for (const [table, column] of columns) await write.raw(`ALTER TABLE ${table} DROP COLUMN ${column}`);
        await write("fermata_migrations").where({ name: NAME }).delete();
      };
      for (const missing of [COLUMNS, COLUMNS.slice(2)]) {
        await forget(missing);
        expect(await storage.database.migrate()).to.deep.equal([NAME]);
      }
      const holder = (await storage.accounts.findKeyHolders([key.tokenHash])).get(key.tokenHash);
      expect(holder).to.deep.equal({ key, account });
      await storage.close();
    });
  });
}
