import { expect } from "chai";
import sinon from "sinon";
import { createStores, openDatabase } from "../../adapters/storage/sql/index.js";
import { anId } from "../support/builders.js";
import { SILENT, TEST_PORTS } from "../support/databases.js";
import { createMysqlDatabase, type MysqlDatabase } from "../support/mysql.js";
import { type PrivateMysql, query, startPrivateMysql } from "../support/mysql-server.js";
import { type StorageUnderTest, storageUnderTest } from "../support/storage-under-test.js";

describe("Prepared statements of MySQL", function () {
  this.timeout(120_000);

  let server: PrivateMysql;
  let database: MysqlDatabase;
  let storage: StorageUnderTest;
  before(async () => {
    server = await startPrivateMysql();
    database = await createMysqlDatabase(server.server);
    const opened = await openDatabase({ url: database.url, logger: SILENT });
    await opened.migrate();
    storage = storageUnderTest(createStores(opened, TEST_PORTS), () => opened.close());
  });
  after(async () => {
    await storage.close();
    await server.close();
  });
  afterEach(() => sinon.restore());

  const prepared = async (): Promise<number> => {
    const [row] = await query<{ Value: string }>(server.server, "SHOW GLOBAL STATUS LIKE 'Com_stmt_prepare'");
    return Number(row?.Value);
  };

  it("are prepared once for reads by ids, whatever the ids are", async () => {
    const accounts = [await storage.addAccount(), await storage.addAccount()];
    await storage.ledger.findBalances([accounts[0]?.id ?? anId("acct")]);
    const before = await prepared();
    for (const { id } of [...accounts, ...accounts])
      expect((await storage.ledger.findBalances([id])).get(id)?.accountId).to.equal(id);
    expect(await prepared()).to.equal(before);
  });

  it("are done without where the server holds as many as it may", async () => {
    const account = await storage.addAccount();
    await query(server.server, "SET GLOBAL max_prepared_stmt_count = 0");
    expect((await storage.accounts.findAccounts([account.id])).get(account.id)).to.deep.equal(account);
    await query(server.server, "SET GLOBAL max_prepared_stmt_count = 16382");
  });

  it("are prepared again after the schema has changed", async () => {
    const { id } = await storage.addAccount({}, { pack: 3 });
    await storage.ledger.findBalances([id]);
    await query(database.url, "ALTER TABLE fermata_balances ADD COLUMN later INT, ADD INDEX later (later)");
    expect((await storage.ledger.findBalances([id])).get(id)?.pack).to.equal(3);
  });
});
