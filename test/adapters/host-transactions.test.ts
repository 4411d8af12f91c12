import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import mysql from "mysql2/promise";
import { OperationRefusedError } from "../../core/errors.js";
import type { UnitOfWork } from "../../core/ports/unit-of-work.js";
import { hostTransactionsContract } from "../contract/host-transactions.contract.js";
import { anAccount } from "../support/builders.js";
import { sqliteStorage, type SqliteUnderTest } from "../support/databases.js";
import { HOSTS } from "../support/hosts.js";
import { mysqlStorage, type MysqlUnderTest } from "../support/mysql.js";

for (const { name, engine, tells, open } of HOSTS) {
  hostTransactionsContract(name, async () => {
    const storage = await (engine === "SQLite" ? sqliteStorage : mysqlStorage).open();
    const host = await open(storage.url);
    return { storage, tells, begin: () => host.begin(), close: () => host.close() };
  });
}

type Storage = SqliteUnderTest | MysqlUnderTest;

/** Of one, two, three and four bytes in utf8mb4. */
const TEXTS = 'a "quote", a line\nbreak, Zoë, 日本, 𝄞';

/** Adds an account in a transaction of the app. */
async function join({ unitOfWork, accounts }: Storage, transaction: object, account = anAccount()): Promise<void> {
  const { join: joined } = unitOfWork as Required<UnitOfWork>;
  await joined.call(
    unitOfWork,
    transaction,
    (tx) => accounts.insertAccounts(tx, [account]),
    () => undefined,
  );
}

async function messageOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "none",
    (error: unknown) => (error as Error).message,
  );
}

describe("Transactions of an app: SQLite", () => {
  let storage: SqliteUnderTest;
  let other: SqliteUnderTest;
  before(async () => {
    [storage, other] = await Promise.all([sqliteStorage.open(), sqliteStorage.open()]);
    // Both are copies of one file.
    await other.database.write("fermata_installation").where({ name: "id" }).update({ value: "another" });
  });
  after(() => Promise.all([storage.close(), other.close()]));

  it("are refused on another file, with or without tables of Fermata", async () => {
    for (const [file, why] of [
      [other.url.slice("sqlite:".length), "another installation"],
      [":memory:", "no tables of Fermata"],
    ] as const) {
      const connection = new BetterSqlite3(file);
      connection.exec("BEGIN IMMEDIATE");
      expect(await messageOf(join(storage, connection))).to.include(why);
      connection.close();
    }
  });

  it("are refused when none is open", async () => {
    const connection = new BetterSqlite3(storage.url.slice("sqlite:".length));
    expect(await messageOf(join(storage, connection))).to.include("no open transaction");
    connection.close();
  });

  it("are not waited for with the thread that they need: other work goes on after their end", async () => {
    const connection = new BetterSqlite3(storage.url.slice("sqlite:".length));
    connection.exec("BEGIN IMMEDIATE");
    await join(storage, connection);
    const account = anAccount();
    const written = storage.inTransaction((tx) => storage.accounts.insertAccounts(tx, [account]));
    // Many turns, in which that one would have taken the thread and waited for the lock.
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    connection.exec("COMMIT");
    await written;
    expect((await storage.accounts.findAccounts([account.id])).size).to.equal(1);
    connection.close();
  });

  it("that lost a race have to be rolled back, and can be run again", async () => {
    const file = storage.url.slice("sqlite:".length);
    const connection = new BetterSqlite3(file);
    connection.exec("BEGIN");
    connection.prepare("SELECT * FROM fermata_accounts").all();
    await storage.addAccount();
    const lost = await join(storage, connection).catch((error: unknown) => error);
    expect(lost).to.have.property("name", "TransactionLostError");
    connection.exec("ROLLBACK; BEGIN IMMEDIATE");
    await join(storage, connection);
    connection.exec("COMMIT");
    connection.close();
  });
});

describe("Transactions of an app: MySQL", () => {
  let storage: MysqlUnderTest;
  let other: MysqlUnderTest;
  before(async () => {
    [storage, other] = await Promise.all([mysqlStorage.open(), mysqlStorage.open()]);
  });
  after(() => Promise.all([storage.close(), other.close()]));

  it("are refused in another database, with or without tables of Fermata", async () => {
    for (const [url, why] of [
      [other.url, "another installation"],
      [other.url.replace(/\/[^/]+$/, "/mysql"), "no tables of Fermata"],
    ] as const) {
      const connection = await mysql.createConnection(url);
      await connection.beginTransaction();
      expect(await messageOf(join(storage, connection))).to.include(why);
      await connection.end();
    }
  });

  it("are refused when none is open, and joined without autocommit", async () => {
    const connection = await mysql.createConnection(storage.url);
    expect(await messageOf(join(storage, connection))).to.include("no open transaction");
    await connection.query("SET autocommit = 0");
    const account = anAccount();
    await join(storage, connection, account);
    expect((await storage.accounts.findAccounts([account.id])).size).to.equal(0);
    await connection.query("COMMIT");
    expect((await storage.accounts.findAccounts([account.id])).size).to.equal(1);
    await connection.end();
  });

  it("are refused where statements would do something else", async () => {
    const formatted = await mysql.createConnection({
      uri: storage.url,
      queryFormat: (sql: string) => sql,
    } as mysql.ConnectionOptions);
    expect(await messageOf(join(storage, formatted))).to.include("queryFormat");
    await formatted.end();
    const changed = await mysql.createConnection({ uri: storage.url, flags: ["-FOUND_ROWS"] });
    expect(await messageOf(join(storage, changed))).to.include("FOUND_ROWS");
    await changed.end();
  });

  it("are refused where texts would be changed on their way, and go on without what was refused", async () => {
    const isNotReported = "SET SESSION session_track_system_variables = ''";
    const admin = await mysql.createConnection(storage.url);
    await admin.query("CREATE TABLE orders (name VARCHAR(20))");
    for (const [options, setup, set] of [
      [{ charset: "latin1" }, [], "latin1"],
      [{ charset: "latin2" }, [], "latin2"],
      [{ charset: "utf8" }, [], "utf8(mb3)?"],
      [{}, ["SET NAMES latin1"], "latin1"],
      [{}, [isNotReported, "SET NAMES latin1"], "latin1"],
      [{}, ["SET character_set_connection = latin1"], "latin1"],
      [{}, ["SET character_set_results = latin1"], "latin1"],
      [{}, ["SET character_set_results = NULL"], "NULL"],
      // The driver goes on writing in what the connection was opened with.
      [{ charset: "latin1" }, [isNotReported, "SET NAMES utf8mb4"], "latin1"],
    ] as const) {
      const connection = await mysql.createConnection({ uri: storage.url, ...options });
      for (const statement of setup) await connection.query(statement);
      await connection.beginTransaction();
      await connection.query("INSERT INTO orders VALUES ('before')");
      const account = anAccount({ name: TEXTS });
      expect(await messageOf(join(storage, connection, account))).to.match(
        new RegExp(`^The transaction cannot be joined: its connection uses the character set ${set}, not utf8mb4\\. `),
      );
      await connection.query("INSERT INTO orders VALUES ('after')");
      await connection.commit();
      expect((await storage.accounts.findAccounts([account.id])).size).to.equal(0);
      await connection.end();
    }
    const [rows] = await admin.query<mysql.RowDataPacket[]>("SELECT name FROM orders");
    expect(rows).to.have.lengthOf(18);
    await admin.end();
  });

  it("keep texts as they are in every collation of utf8mb4", async () => {
    for (const options of [{}, { charset: "utf8mb4" }, { charset: "utf8mb4_bin" }, { charset: "UTF8MB4_GENERAL_CI" }]) {
      const connection = await mysql.createConnection({ uri: storage.url, ...options });
      await connection.beginTransaction();
      const account = anAccount({ name: TEXTS });
      await join(storage, connection, account);
      await connection.commit();
      expect((await storage.accounts.findAccounts([account.id])).get(account.id)).to.deep.equal(account);
      await connection.end();
    }
  });

  it("keep the modes of their connection, and what they hold is escaped in any of them", async () => {
    const connection = await mysql.createConnection(storage.url);
    const modes = "SELECT @@SESSION.sql_mode AS mode, @@SESSION.innodb_lock_wait_timeout AS wait";
    await connection.query("SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES', innodb_lock_wait_timeout = 17");
    const before = (await connection.query(modes))[0];
    await connection.beginTransaction();
    const account = anAccount({ name: `It's a \\ "name"` });
    await join(storage, connection, account);
    await join(storage, connection, account).catch(() => undefined);
    expect((await connection.query(modes))[0]).to.deep.equal(before);
    await connection.commit();
    const found = (await storage.accounts.findAccounts([account.id])).get(account.id);
    expect(found?.name).to.equal(account.name);
    await connection.end();
  });

  it("are refused when they only read, and not to be run again", async () => {
    const connection = await mysql.createConnection(storage.url);
    for (const begin of [["START TRANSACTION READ ONLY"], ["SET SESSION TRANSACTION READ ONLY", "START TRANSACTION"]]) {
      for (const statement of begin) await connection.query(statement);
      const outcome: unknown = await join(storage, connection).catch((error: unknown) => error);
      expect(outcome).to.be.instanceOf(OperationRefusedError);
      expect((outcome as Error).message).to.match(/^The transaction cannot be joined: it is read-only\. /);
      expect(await connection.query("SELECT 1 AS one").then(([rows]) => rows)).to.deep.equal([{ one: 1 }]);
      await connection.query("COMMIT");
    }
    await connection.end();
  });

  it("that lost a race have to be rolled back, and can be run again", async () => {
    const [first, second] = [await storage.addAccount(), await storage.addAccount()];
    const [one, two] = await Promise.all([mysql.createConnection(storage.url), mysql.createConnection(storage.url)]);
    const { unitOfWork } = storage;
    const lock = async (connection: object, account = first): Promise<unknown> =>
      (unitOfWork as Required<UnitOfWork>).join(
        connection,
        (tx) => storage.ledger.lockBalances(tx, [account.id]),
        () => undefined,
      );
    await Promise.all([one.beginTransaction(), two.beginTransaction()]);
    await lock(one, first);
    await lock(two, second);
    const outcomes = await Promise.all(
      [lock(one, second), lock(two, first)].map((call) => call.then(() => null).catch((error: unknown) => error)),
    );
    const lost = outcomes.findIndex((outcome) => outcome !== null);
    expect(outcomes[lost]).to.have.property("name", "TransactionLostError");
    expect(outcomes[1 - lost]).to.equal(null);
    const [loser, winner] = lost === 0 ? [one, two] : [two, one];
    await winner.commit();
    await loser.rollback();
    await loser.beginTransaction();
    await lock(loser, first);
    await loser.commit();
    await Promise.all([one.end(), two.end()]);
  });

  it("whose connection is lost are reported as unavailable", async () => {
    const connection = await mysql.createConnection(storage.url);
    await connection.beginTransaction();
    await connection.query(`KILL ${connection.threadId}`).catch(() => undefined);
    const outcome = await join(storage, connection).catch((error: unknown) => error);
    expect(outcome).to.have.property("code", "service_unavailable");
    connection.destroy();
  });
});
