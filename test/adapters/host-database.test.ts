import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import knex from "knex";
import mysql from "mysql2";
import { createStores, type KnexDatabase, openDatabase, openHostDatabase } from "../../adapters/storage/sql/index.js";
import { OperationRefusedError } from "../../core/errors.js";
import { jobStoreContract } from "../contract/job-store.contract.js";
import { ledgerStoreContract } from "../contract/ledger-store.contract.js";
import { rateCountStoreContract } from "../contract/rate-count-store.contract.js";
import { unitOfWorkContract } from "../contract/unit-of-work.contract.js";
import { webhookStoreContract } from "../contract/webhook-store.contract.js";
import { anAccount } from "../support/builders.js";
import { SILENT, sqliteStorage, temporaryFolder, TEST_PORTS } from "../support/databases.js";
import { HOST_POOLS, type HostPool, type HostPoolKind } from "../support/host-pools.js";
import { createMysqlDatabase } from "../support/mysql.js";
import { storageUnderTest, type StorageUnderTest } from "../support/storage-under-test.js";

const SUITES: Readonly<Record<string, readonly ((name: string, open: () => Promise<StorageUnderTest>) => void)[]>> = {
  knex: [unitOfWorkContract, rateCountStoreContract],
  "mysql2/promise": [unitOfWorkContract, ledgerStoreContract, jobStoreContract, webhookStoreContract],
};

/** Values that an app may have, none of which is ours. */
const ODD = {
  sql_mode: "ANSI_QUOTES,NO_BACKSLASH_ESCAPES",
  time_zone: "+05:00",
  innodb_lock_wait_timeout: 7,
  lock_wait_timeout: 77,
  autocommit: 0,
  sql_safe_updates: 1,
  sql_select_limit: 3,
  character_set_client: "latin1",
  character_set_results: "latin1",
  character_set_connection: "latin1",
  collation_connection: "latin1_german2_ci",
};

const ODD_SETUP = [
  `SET SESSION sql_mode = '${ODD.sql_mode}', time_zone = '${ODD.time_zone}', autocommit = 0, ` +
    `innodb_lock_wait_timeout = ${ODD.innodb_lock_wait_timeout}, lock_wait_timeout = ${ODD.lock_wait_timeout}`,
  "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
  "SET SESSION sql_safe_updates = 1, sql_select_limit = 3",
];

/** What an app may run once its pool is in use; at the opening such connections are refused. */
const LATER = ["SET NAMES latin1 COLLATE latin1_german2_ci", "SET SESSION TRANSACTION READ ONLY"];

const SESSION = `SELECT ${Object.keys(ODD)
  .map((name) => `@@${name} AS ${name}`)
  .join(", ")}`;

/** Storage on the pool of an app. */
interface OnPool {
  readonly pool: HostPool;
  readonly database: KnexDatabase;
  readonly storage: StorageUnderTest;
  readonly url: string;
}

async function openOn(kind: HostPoolKind, setup: readonly string[] = [], connections = 4): Promise<OnPool> {
  const { url, drop } = await createMysqlDatabase();
  const pool = await kind.open(url, setup, connections);
  const database = await openHostDatabase(pool.database, { logger: SILENT });
  await database.migrate();
  const storage = storageUnderTest(createStores(database, TEST_PORTS), async () => {
    await database.close();
    expect(pool.used(), "connections that were not given back").to.equal(0);
    expect(await pool.query("SELECT 1 AS one")).to.deep.equal([{ one: 1 }]);
    await pool.close();
    await drop();
  });
  return { pool, database, storage, url };
}

for (const kind of HOST_POOLS) {
  for (const suite of SUITES[kind.name] ?? [])
    suite(`a pool of ${kind.name}`, async () => (await openOn(kind)).storage);

  describe(`An app's pool: ${kind.name}`, () => {
    let on: OnPool;
    before(async () => {
      on = await openOn(kind, ODD_SETUP);
    });
    after(() => on.storage.close());

    it("has its own sessions again after each use, also after a transaction that failed", async () => {
      const { pool, database, storage } = on;
      const all = [1, 2, 3, 4];
      for (const sql of ["DO SLEEP(0.05)", ...LATER]) await Promise.all(all.map(() => pool.query(sql)));
      const account = anAccount({ name: 'Zoë\'s \\ "name"' });
      await storage.inTransaction((tx) => storage.accounts.insertAccounts(tx, [account]));
      const failed = storage.inTransaction(() => Promise.reject(new Error("changed its mind")));
      expect(await failed.catch((error: unknown) => (error as Error).message)).to.equal("changed its mind");
      expect((await storage.accounts.findAccounts([account.id])).get(account.id)).to.deep.equal(account);
      expect((await storage.ledger.audit()).violations).to.deep.equal([]);
      expect(Math.abs((await database.readTime()) - Date.now())).to.be.below(60_000);
      expect(pool.used()).to.equal(0);
      const sessions = await Promise.all(all.map(() => pool.query(`${SESSION}, SLEEP(0.05) AS slept`)));
      for (const [session] of sessions) expect(session).to.deep.equal({ ...ODD, slept: 0 });
      const levels = await pool.query<{ Value: string }>(
        "SHOW SESSION VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation')",
      );
      for (const { Value } of levels) expect(Value).to.equal("SERIALIZABLE");
    });

    it("goes on after the server has ended every connection", async () => {
      const { pool, storage, url } = on;
      await storage.addAccount();
      await endAll(url);
      const account = await storage.addAccount();
      expect((await storage.accounts.findAccounts([account.id])).has(account.id)).to.equal(true);
      expect(pool.used()).to.equal(0);
    });

    it("serves more callers than it has connections", async () => {
      const { storage } = on;
      const accounts = await Promise.all(Array.from({ length: 30 }, () => storage.addAccount()));
      const found = await Promise.all(accounts.map(({ id }) => storage.accounts.findAccounts([id])));
      expect(found.every((one) => one.size === 1)).to.equal(true);
    });
  });
}

/** Ends the connections of all sessions that use a database. */
async function endAll(url: string): Promise<void> {
  const admin = mysql.createConnection(url).promise();
  const name = new URL(url).pathname.slice(1);
  const [rows] = await admin.query("SELECT id FROM information_schema.processlist WHERE db = ?", [name]);
  const own = (await admin.query("SELECT CONNECTION_ID() AS id"))[0] as { id: number }[];
  for (const { id } of rows as { id: number }[]) if (id !== own[0]?.id) await admin.query(`KILL ${id}`);
  await admin.end();
}

async function refusalOf(database: object): Promise<string> {
  const error: unknown = await openHostDatabase(database, { logger: SILENT }).then(
    (opened) => opened.close().then(() => new Error("it was opened")),
    (caught: unknown) => caught,
  );
  expect(error).to.be.instanceOf(OperationRefusedError);
  return (error as Error).message;
}

describe("An app's database that is refused", () => {
  it("is named, with what is allowed", async () => {
    const allowed =
      "Allowed: an open knex instance of the client mysql2 or better-sqlite3, a pool of mysql2, " +
      "or a database of better-sqlite3.";
    expect(await refusalOf({})).to.equal(`The database cannot be used: it is none of these. ${allowed}`);
    expect(await refusalOf(null as unknown as object)).to.include("it is null");
    const postgres = Object.assign(() => undefined, { client: { driverName: "pg" }, raw: () => undefined });
    expect(await refusalOf(postgres)).to.include("it is a knex instance of pg");
  });

  it("is a pool that is too small, or whose connections count or write otherwise", async () => {
    const { url, drop } = await createMysqlDatabase();
    const small = mysql.createPool({ uri: url, connectionLimit: 2 });
    expect(await refusalOf(small)).to.include("its pool has at most 2 connections, and Fermata needs 4");
    const changed = mysql.createPool({ uri: url, flags: ["-FOUND_ROWS"] });
    expect(await refusalOf(changed)).to.include("its connection was opened without FOUND_ROWS");
    const latin = mysql.createPool({ uri: url, charset: "latin1" });
    expect(await refusalOf(latin)).to.include("its connections use the character set latin1, not utf8mb4");
    const unnamed = mysql.createPool({ uri: url.replace(/\/[^/]+$/, "") });
    expect(await refusalOf(unnamed)).to.include("its connections have no database");
    for (const pool of [small, changed, latin, unnamed]) await pool.promise().end();
    await drop();
  });

  it("is a pool that refuses callers instead of letting them wait", async () => {
    const uri = "mysql://127.0.0.1/app"; // nothing connects to it
    const hasty = mysql.createPool({ uri, waitForConnections: false });
    expect(await refusalOf(hasty)).to.include("its pool has waitForConnections: false, and Fermata needs true");
    const short = mysql.createPool({ uri, queueLimit: 5 });
    expect(await refusalOf(short)).to.include("its pool has queueLimit: 5, and Fermata needs 0, no limit");
    expect(await refusalOf(short.promise())).to.include("queueLimit: 5");
    for (const pool of [hasty, short]) await pool.promise().end();
  });

  it("is a database in memory, a read-only or a closed one", async () => {
    const memory = new BetterSqlite3(":memory:");
    expect(await refusalOf(memory)).to.include("it is in memory, where no other connection reaches it");
    memory.close();
    expect(await refusalOf(memory)).to.include("it is closed");
    const file = `${await temporaryFolder()}/app.sqlite`;
    new BetterSqlite3(file).close();
    const readonly = new BetterSqlite3(file, { readonly: true });
    expect(await refusalOf(readonly)).to.include("it is read-only");
    readonly.close();
    const connection = { filename: file, options: { readonly: true } };
    const handle = knex({ client: "better-sqlite3", connection, useNullAsDefault: true });
    expect(await refusalOf(handle)).to.include("it is read-only");
    await handle.destroy();
    const later = knex({ client: "better-sqlite3", connection: () => ({ filename: file }), useNullAsDefault: true });
    expect(await refusalOf(later)).to.include("its connection names no file");
    await later.destroy();
  });
});

describe("An app's database of SQLite", () => {
  it("is its file, by knex or by better-sqlite3", async () => {
    const file = `${await temporaryFolder()}/app.sqlite`;
    const handle = knex({ client: "better-sqlite3", connection: { filename: file }, useNullAsDefault: true });
    await handle.raw("CREATE TABLE jobs (title TEXT)");
    const opened = await openHostDatabase(handle, { logger: SILENT });
    await opened.migrate();
    const storage = storageUnderTest(createStores(opened, TEST_PORTS));
    const account = await storage.addAccount();
    await opened.close();
    await handle.raw("INSERT INTO jobs VALUES ('theirs')");
    expect(await handle("fermata_accounts").select("id")).to.deep.equal([{ id: account.id }]);
    await handle.destroy();
    const own = new BetterSqlite3(file);
    const again = await openHostDatabase(own, { logger: SILENT });
    expect((await createStores(again, TEST_PORTS).accounts.findAccounts([account.id])).size).to.equal(1);
    await again.close();
    expect(own.prepare("SELECT title FROM jobs").all()).to.deep.equal([{ title: "theirs" }]);
    own.close();
  });

  it("is the one that its URL names", async () => {
    const storage = await sqliteStorage.open();
    const own = new BetterSqlite3(storage.url.slice("sqlite:".length));
    const account = await storage.addAccount();
    const opened = await openHostDatabase(own, { logger: SILENT });
    expect((await createStores(opened, TEST_PORTS).accounts.findAccounts([account.id])).size).to.equal(1);
    await opened.close();
    own.close();
    const direct = await openDatabase({ url: storage.url, logger: SILENT });
    expect(await direct.pendingMigrations()).to.deep.equal([]);
    await direct.close();
    await storage.close();
  });
});
