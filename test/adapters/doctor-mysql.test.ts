import { expect } from "chai";
import { createConnection, type Connection, type RowDataPacket } from "mysql2/promise";
import { checkStorage } from "../../adapters/storage/sql/doctor/doctor.js";
import { openDatabase } from "../../adapters/storage/sql/index.js";
import { checkClock } from "../../adapters/system/doctor.js";
import type { CheckResult } from "../../core/ports/self-check.js";
import { SILENT } from "../support/databases.js";
import { createMysqlDatabase } from "../support/mysql.js";
import { type PrivateMysql, startPrivateMysql } from "../support/mysql-server.js";
import { freePort } from "../support/services.js";

/** A server setting that is made wrong at run time, and the expected check result. */
interface Fault {
  readonly setting: string;
  readonly value: string;
  readonly check: string;
  readonly result: "warning" | "failed";
  readonly says: RegExp;
}

const FAULTS: readonly Fault[] = [
  {
    setting: "binlog_format",
    value: "'STATEMENT'",
    check: "mysql binary log",
    result: "failed",
    says: /refuses every write/,
  },
  {
    setting: "sync_binlog",
    value: "0",
    check: "mysql durability",
    result: "warning",
    says: /credits included: sync_binlog is 0/,
  },
  {
    setting: "innodb_flush_log_at_trx_commit",
    value: "2",
    check: "mysql durability",
    result: "warning",
    says: /at_trx_commit is 2/,
  },
  { setting: "read_only", value: "1", check: "mysql writes", result: "failed", says: /read_only is ON/ },
  {
    setting: "default_storage_engine",
    value: "MyISAM",
    check: "mysql engine",
    result: "failed",
    says: /MyISAM, which has no transactions/,
  },
  {
    setting: "innodb_default_row_format",
    value: "compact",
    check: "mysql engine",
    result: "failed",
    says: /row format compact/,
  },
  {
    setting: "max_connections",
    value: "11",
    check: "mysql connections",
    result: "failed",
    says: /up to 13 connections; the server allows 11/,
  },
  {
    setting: "max_connections",
    value: "13",
    check: "mysql connections",
    result: "warning",
    says: /the server allows 13 in all/,
  },
  {
    setting: "max_allowed_packet",
    value: "1048576",
    check: "mysql packets",
    result: "warning",
    says: /1 MiB: a group of long requests/,
  },
];

describe("The doctor's checks of MySQL", function () {
  this.timeout(120_000);

  let server: PrivateMysql;
  let root: Connection;
  let url: string;
  let schema: string;
  before(async () => {
    server = await startPrivateMysql(["--log-bin", "--binlog-format=ROW", "--sync-binlog=1"]);
    root = await createConnection(server.server);
    // MariaDB has anonymous users at first, which would match connections from this machine.
    const [nameless] = await root.query<RowDataPacket[]>("SELECT Host AS host FROM mysql.user WHERE User = ''");
    for (const { host } of nameless) await root.query("DROP USER ''@?", [host]);
    ({ url } = await createMysqlDatabase(server.server));
    schema = url.slice(url.lastIndexOf("/") + 1);
    // init_connect runs in every session of a user without administrator rights.
    await root.query("CREATE USER app IDENTIFIED BY 'sesame'");
    await root.query(`GRANT ALL ON ${schema}.* TO app`);
    const database = await openDatabase({ url, logger: SILENT });
    await database.migrate();
    await database.close();
  });
  after(async () => {
    await root.end();
    await server.close();
  });

  const check = (at = url): Promise<readonly CheckResult[]> => checkStorage({ url: at, logger: SILENT });

  async function named(name: string, at?: string): Promise<CheckResult> {
    const results = await check(at);
    const found = results.find((result) => result.name === name);
    if (found === undefined) throw new Error(`There is no ${name} among ${JSON.stringify(results)}.`);
    return found;
  }

  /** Runs the fix of the check result. */
  async function applyFix({ fix }: CheckResult): Promise<void> {
    const statements = (fix ?? "").match(/(?:SET (?:GLOBAL|PERSIST)|ALTER|GRANT|CREATE) [^;]+;/g);
    expect(statements, String(fix)).to.not.equal(null);
    for (const statement of statements ?? []) await root.query(statement.replaceAll("…", "sesame"));
  }

  const withUser = (name: string, password = "sesame"): string => url.replace("root@", `${name}:${password}@`);

  it("pass for a server with safe settings, and name its version", async () => {
    expect((await check()).filter(({ result }) => result !== "ok")).to.deep.equal([]);
    expect((await named("mysql version")).message).to.match(/^The server is (MariaDB|MySQL) \d+\.\d+/);
    expect((await named("mysql session")).message).to.include("READ COMMITTED");
  });

  it("accept a mixed binary log, which also has rows", async () => {
    await root.query("SET GLOBAL binlog_format = 'MIXED'");
    expect(await named("mysql binary log")).to.include({ result: "ok" });
    await root.query("SET GLOBAL binlog_format = 'ROW'");
  });

  for (const { setting, value, check: checkName, result, says } of FAULTS) {
    it(`report ${setting} = ${value}, with a fix that works`, async () => {
      const [[before]] = await root.query<RowDataPacket[]>(`SELECT @@GLOBAL.${setting} AS value`);
      await root.query(`SET GLOBAL ${setting} = ${value}`);
      try {
        const found = await named(checkName);
        expect(found.result).to.equal(result);
        expect(found.message).to.match(says);
        await applyFix(found);
        expect((await named(checkName)).result).to.equal("ok");
      } finally {
        await root.query(`SET GLOBAL ${setting} = ?`, [before?.["value"]]);
      }
    });
  }

  it("report tables of Fermata in another engine", async () => {
    await root.query(`ALTER TABLE ${schema}.fermata_balances ENGINE = MyISAM`);
    const found = await named("mysql engine");
    expect(found).to.include({ result: "failed" });
    expect(found.message).to.include("balances").and.not.include("jobs");
    await root.query(`USE ${schema}`);
    await applyFix(found);
    expect((await named("mysql engine")).result).to.equal("ok");
  });

  it("report sessions without autocommit", async () => {
    await root.query("SET GLOBAL autocommit = 0");
    const found = await named("mysql session");
    await root.query("SET GLOBAL autocommit = 1");
    expect(found).to.include({ result: "failed", message: "In our sessions autocommit is off." });
    expect((await named("mysql session")).result).to.equal("ok");
  });

  it("report sessions with a wrong character set", async () => {
    await root.query("SET GLOBAL init_connect = 'SET NAMES latin1'");
    const found = await named("mysql session", withUser("app"));
    await root.query("SET GLOBAL init_connect = ''");
    expect(found).to.include({
      result: "failed",
      message: "In our sessions texts travel as latin1, which garbles them.",
    });
    expect(found.fix).to.include("skip-character-set-client-handshake").and.include("init_connect");
    expect((await named("mysql session", withUser("app"))).result).to.equal("ok");
  });

  it("report a clock difference to the server, in both directions and any time zone", async () => {
    const clock = async (): Promise<CheckResult> => {
      const database = await openDatabase({ url: withUser("app"), logger: SILENT });
      try {
        return await checkClock({ readStorageTime: () => database.readTime(), wall: () => Date.now() });
      } finally {
        await database.close();
      }
    };
    await root.query("SET GLOBAL time_zone = '+05:30'");
    for (const [offset, says] of [
      ["+ 60", /is (59|60)\.\d s behind the storage's\./],
      ["- 60", /is (60|61)\.\d s ahead of the storage's\./],
    ] as const) {
      await root.query("SET GLOBAL init_connect = ?", [`SET timestamp = UNIX_TIMESTAMP(SYSDATE(3)) ${offset}`]);
      const found = await clock();
      expect(found).to.include({ name: "clock", result: "warning" });
      expect(found.message).to.match(says);
    }
    await root.query("SET GLOBAL init_connect = ''");
    expect((await clock()).result).to.equal("ok");
    await root.query("SET GLOBAL time_zone = 'SYSTEM'");
  });

  it("report missing privileges, with grants that work", async () => {
    await root.query("CREATE USER reader IDENTIFIED BY 'sesame'");
    await root.query(`GRANT SELECT ON ${schema}.* TO reader`);
    const found = await named("mysql privileges", withUser("reader"));
    expect(found).to.include({
      result: "failed",
      message: "'reader'@'%' lacks INSERT, UPDATE, DELETE, CREATE, ALTER, INDEX, DROP.",
    });
    await root.query(`GRANT INSERT, UPDATE, DELETE ON ${schema}.* TO reader`);
    const running = await named("mysql privileges", withUser("reader"));
    expect(running).to.include({
      result: "warning",
      message: "'reader'@'%' lacks CREATE, ALTER, INDEX, DROP, which only migrations need.",
    });
    await applyFix(running);
    expect((await named("mysql privileges", withUser("reader"))).result).to.equal("ok");
  });

  it("report a user with fewer connections than a process opens", async () => {
    await root.query("CREATE USER narrow IDENTIFIED BY 'sesame' WITH MAX_USER_CONNECTIONS 5");
    await root.query(`GRANT ALL ON ${schema}.* TO narrow`);
    const found = await named("mysql connections", withUser("narrow"));
    expect(found.result).to.equal("failed");
    expect(found.message).to.match(/and this user 5\.$/);
  });

  it("report a missing user or database, and how to create it", async () => {
    const otherAccount = withUser("stranger");
    const refused = await named("mysql connection", otherAccount);
    expect(refused.result).to.equal("failed");
    expect(refused.message).to.include("Access denied");
    await applyFix(refused);
    expect((await check(otherAccount)).filter(({ result }) => result !== "ok")).to.deep.equal([]);

    const nowhere = withUser("stranger").replace(/\/\w+$/, "/nowhere-yet");
    const denied = await named("mysql connection", nowhere);
    expect(denied.fix).to.include("GRANT SELECT").and.include("ON `nowhere-yet`.*");
    await applyFix(denied);
    const missing = await named("mysql connection", nowhere);
    expect(missing.message).to.include("Unknown database");
    await applyFix(missing);
    const found = await check(nowhere);
    expect(found.filter(({ result }) => result !== "ok").map(({ name, fix }) => [name, fix])).to.deep.equal([
      ["schema", "Run `fermata migrate`."],
    ]);
  });

  it("report an unreachable server once, with its address", async () => {
    const port = await freePort();
    const results = await check(`mysql://root@127.0.0.1:${port}/fermata`);
    expect(results.map(({ name, result }) => [name, result])).to.deep.equal([["mysql connection", "failed"]]);
    expect(results[0]?.message).to.include(`127.0.0.1:${port}`).and.include("ECONNREFUSED");
  });
});
