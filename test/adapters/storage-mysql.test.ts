import { expect } from "chai";
import { openDatabase } from "../../adapters/storage/sql/index.js";
import { MIGRATIONS } from "../../adapters/storage/sql/migrations/index.js";
import { MYSQL_LIMITS } from "../../adapters/storage/sql/mysql/options.js";
import { POOL_MAX } from "../../adapters/storage/sql/mysql/options.js";
import { ServiceUnavailableError } from "../../core/errors.js";
import { aJob, anId } from "../support/builders.js";
import { SILENT } from "../support/databases.js";
import { createMysqlDatabase, mysqlStorage, type MysqlUnderTest } from "../support/mysql.js";
import { sharedServer } from "../support/shared-mysql.js";
import { query } from "../support/mysql-server.js";
import { Gate } from "../support/stepping.js";

const NAMES = MIGRATIONS.map(({ name }) => name);
const SETTINGS = [
  "time_zone",
  "innodb_lock_wait_timeout",
  "lock_wait_timeout",
  "wait_timeout",
  "transaction_isolation",
  "tx_isolation",
  "sql_mode",
];

interface Variable {
  readonly Variable_name: string;
  readonly Value: string;
}

describe("MySQL storage", () => {
  let storage: MysqlUnderTest;
  before(async () => {
    storage = await mysqlStorage.open();
  });
  after(() => storage.close());

  async function sessionSettings(): Promise<Map<string, string>> {
    const marks = SETTINGS.map(() => "?").join(", ");
    const rows = await storage.database.reading((session) =>
      session.all<Variable>(`SHOW VARIABLES WHERE Variable_name IN (${marks})`, SETTINGS),
    );
    return new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
  }

  async function connectionId(): Promise<number> {
    const [row] = await storage.database.reading((session) =>
      session.all<{ id: number }>("SELECT CONNECTION_ID() AS id"),
    );
    return row?.id ?? 0;
  }

  async function expectSetUp(): Promise<void> {
    const settings = await sessionSettings();
    expect(settings.get("time_zone")).to.equal("+00:00");
    expect(settings.get("innodb_lock_wait_timeout")).to.equal("1");
    expect(settings.get("lock_wait_timeout")).to.equal("3");
    // A process that hangs in a transaction holds its locks no longer than this.
    expect(settings.get("wait_timeout")).to.equal("60");
    expect(settings.get("transaction_isolation") ?? settings.get("tx_isolation")).to.equal("READ-COMMITTED");
    expect(settings.get("sql_mode")).to.include("STRICT_ALL_TABLES");
  }

  it("sets on every connection: READ COMMITTED, lock waits of 1 s, UTC, strict", async () => {
    await expectSetUp();
    const first = await connectionId();
    await query(await sharedServer(), "KILL ?", [first]);
    await expectSetUp();
    expect(await connectionId()).to.not.equal(first);
  });

  it("reads again on another connection when one is dead", async () => {
    const account = await storage.addAccount();
    await query(await sharedServer(), "KILL ?", [await connectionId()]);
    expect((await storage.accounts.findAccounts([account.id])).size).to.equal(1);
  });

  it("compares ids and hashes byte by byte, and texts with their trailing blanks", async () => {
    const columns = await storage.database.reading((session) =>
      session.all<{ name: string; collation: string }>(
        "SELECT CONCAT(table_name, '.', column_name) AS name, collation_name AS collation FROM " +
          "information_schema.columns WHERE table_schema = DATABASE() AND " +
          "collation_name IS NOT NULL AND table_name NOT LIKE 'fermata_migrations%'",
      ),
    );
    expect(columns).to.not.deep.equal([]);
    for (const { name, collation } of columns) {
      expect(collation, name).to.match(/_bin$/);
      // An app's own ids are in any script.
      if (/(^|[._])(id|hash)$/.test(name) && !name.endsWith(".external_id"))
        expect(collation, name).to.equal("ascii_bin");
    }
    const names = ["a", "a ", "A"];
    for (const name of names) await storage.installation.keepFirst(`key ${names.indexOf(name)}`, name);
    const tiers = await Promise.all(names.map((tier) => storage.addAccount({ tier })));
    const same = await storage.database.reading((session) =>
      session.all("SELECT id FROM fermata_accounts WHERE tier = ?", ["a"]),
    );
    expect(same).to.deep.equal([{ id: tiers[0]?.id }]);
  });

  it("stores everything in InnoDB, without foreign keys, which would lock additional rows", async () => {
    const [engines, keys] = await storage.database.reading(async (session) => [
      await session.all<{ engine: string }>(
        "SELECT DISTINCT engine AS engine FROM information_schema.tables WHERE table_schema = DATABASE() AND " +
          "table_type = 'BASE TABLE'",
      ),
      await session.all(
        "SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE() AND constraint_type = " +
          "'FOREIGN KEY'",
      ),
    ]);
    expect(engines).to.deep.equal([{ engine: "InnoDB" }]);
    expect(keys).to.deep.equal([]);
  });

  it("waits for a connection less than a second, and for a response longer than for a lock", () => {
    const { acquireMs, connectMs, pingMs, lateMs, probeMs, statementMs } = MYSQL_LIMITS;
    expect(acquireMs).to.be.below(900);
    expect(Math.max(connectMs, pingMs)).to.be.below(acquireMs);
    expect(lateMs + probeMs).to.be.below(acquireMs);
    expect(statementMs).to.be.above(storage.database.dialect.lockWaitMs).and.below(10_000);
  });

  it("refuses when all connections are in use, and serves again as soon as one is free", async () => {
    const letGo = new Gate();
    const taken = Array.from({ length: POOL_MAX }, () => new Gate());
    const holders = taken.map((gate) =>
      storage.database.transaction(async () => {
        gate.open();
        await letGo.opened;
      }),
    );
    await Promise.all(taken.map(({ opened }) => opened));
    const refused = await Promise.allSettled([
      storage.accounts.findAccounts([anId("acct")]),
      storage.inTransaction((tx) => storage.ledger.lockBalances(tx, [anId("acct")])),
      storage.database.schemaStatus(),
      storage.database.check(),
    ]);
    for (const outcome of refused)
      expect(outcome).to.have.property("reason").that.is.instanceOf(ServiceUnavailableError);
    // A later caller does not wait at all: no connection was released since.
    expect(await storage.database.check().catch((error: unknown) => error)).to.be.instanceOf(ServiceUnavailableError);
    letGo.open();
    await Promise.race(holders);
    await storage.addAccount();
    await Promise.all(holders);
  });

  it("locks rows without waiting, and says which ones other transactions hold", async () => {
    const [held, free] = [await storage.addAccount(), await storage.addAccount()];
    const jobs = [aJob({ accountId: held.id }), aJob({ accountId: free.id })] as const;
    await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, jobs));
    const [isHeld, letGo] = [new Gate(), new Gate()];
    const holder = storage.inTransaction(async (tx) => {
      await storage.ledger.lockBalances(tx, [held.id]);
      await storage.jobs.lockJobs(tx, [jobs[0].id]);
      isHeld.open();
      await letGo.opened;
    });
    await isHeld.opened;
    try {
      const [balances, states] = await storage.inTransaction(async (tx) => [
        await storage.ledger.tryLockBalances(tx, [held.id, anId("acct"), free.id]),
        await storage.jobs.tryLockJobs(tx, [jobs[0].id, anId("job"), jobs[1].id]),
      ]);
      expect([[...balances.locked.keys()], [...balances.busy]]).to.deep.equal([[free.id], [held.id]]);
      expect([[...states.locked.keys()], [...states.busy]]).to.deep.equal([[jobs[1].id], [jobs[0].id]]);
    } finally {
      letGo.open();
      await holder;
    }
  });

  describe("schema", () => {
    async function onEmptyDatabase(work: (url: string) => Promise<void>): Promise<void> {
      const { url, drop } = await createMysqlDatabase();
      try {
        await work(url);
      } finally {
        await drop();
      }
    }

    async function migrate(url: string): Promise<string[]> {
      const database = await openDatabase({ url, logger: SILENT });
      try {
        return await database.migrate();
      } finally {
        await database.close();
      }
    }

    it("is migrated once by concurrent processes", () =>
      onEmptyDatabase(async (url) => {
        const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(url)));
        expect(applied.flat()).to.deep.equal(NAMES);
      }));

    it("is migrated by the next process when one died during it, without a leftover lock", () =>
      onEmptyDatabase(async (url) => {
        await migrate(url);
        await query(url, "UPDATE fermata_migrations_lock SET is_locked = 1");
        await query(url, "DELETE FROM fermata_migrations");
        expect(await migrate(url)).to.deep.equal(NAMES);
      }));

    it("has its own lock even with a database name of maximum length", async () => {
      const name = `fermata_test_${process.pid}_`.padEnd(64, "x");
      const server = await sharedServer();
      await query(server, `CREATE DATABASE ${name}`);
      try {
        expect(await migrate(`${server}/${name}`)).to.deep.equal(NAMES);
      } finally {
        await query(server, `DROP DATABASE ${name}`);
      }
    });
  });
});
