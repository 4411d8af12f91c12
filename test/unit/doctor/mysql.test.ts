import { expect } from "chai";
import { checkLocks } from "../../../adapters/storage/sql/doctor/mysql-privileges.js";
import { classifyServer, type MysqlServer } from "../../../adapters/storage/sql/doctor/mysql-settings.js";
import type { Session } from "../../../adapters/storage/sql/session.js";
import type { CheckResult } from "../../../core/ports/self-check.js";

const SAFE: Readonly<Record<string, string>> = {
  transaction_isolation: "READ-COMMITTED",
  sql_mode: "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION",
  innodb_lock_wait_timeout: "3",
  autocommit: "ON",
  character_set_client: "utf8mb4",
  character_set_connection: "utf8mb4",
  character_set_results: "utf8mb4",
  read_only: "OFF",
  log_bin: "ON",
  binlog_format: "ROW",
  innodb_flush_log_at_trx_commit: "1",
  sync_binlog: "1",
  default_storage_engine: "InnoDB",
  innodb_default_row_format: "dynamic",
  max_connections: "151",
  max_allowed_packet: "67108864",
};

function check(
  variables: Readonly<Record<string, string>> = {},
  server: Partial<MysqlServer> = {},
): readonly CheckResult[] {
  const all = new Map(Object.entries({ ...SAFE, ...variables }));
  const notified = { version: "8.4.3", connections: 1, foreignTables: [], ...server, variables: all };
  return classifyServer(notified, { connectionsMax: 13, lockWaitSeconds: 3 });
}

const wrong = (...notified: Parameters<typeof check>): readonly CheckResult[] =>
  check(...notified).filter(({ result }) => result !== "ok");

describe("The doctor of MySQL, by what the server says of itself", () => {
  it("finds nothing to fix at a server with safe settings", () => {
    expect(wrong()).to.deep.equal([]);
  });

  it("takes MySQL from 8.0 and MariaDB from 10.6 on, and distinguishes them", () => {
    const versionOf = (version: string): CheckResult | undefined =>
      check({}, { version }).find(({ name }) => name === "mysql version");
    for (const version of ["5.7.44-log", "10.5.27-MariaDB-1:10.5.27+maria~deb11", "10.4.34-MariaDB"]) {
      expect(versionOf(version), version).to.include({
        result: "failed",
        fix: "Move to MySQL 8.0, MariaDB 10.6 or later of either.",
      });
    }
    for (const version of ["8.0.36", "8.0.36-28", "9.7.4-2", "10.6.0-MariaDB", "11.8.2-MariaDB-ubu2404"]) {
      expect(versionOf(version)?.result, version).to.equal("ok");
    }
    expect(versionOf("10.5.27-MariaDB")?.message).to.equal("The server is MariaDB 10.5.27, which is too old.");
    expect(versionOf("8.0.36-28")?.message).to.equal("The server is MySQL 8.0.36.");
  });

  it("finds sessions that have not what ours ask for, as behind a proxy", () => {
    for (const [variables, says] of [
      [{ transaction_isolation: "REPEATABLE-READ" }, "In our sessions the isolation is REPEATABLE READ."],
      [{ sql_mode: "" }, "In our sessions sql_mode is not strict."],
      [{ innodb_lock_wait_timeout: "50" }, "In our sessions a lock is not waited for 3 s."],
    ] as const) {
      expect(wrong(variables)).to.deep.equal([
        {
          name: "mysql session",
          result: "failed",
          message: says,
          fix: "Something undoes what a session sets: connect without a proxy, or let the proxy keep sessions apart.",
        },
      ]);
    }
    const [both] = wrong({ sql_mode: "", autocommit: "OFF" });
    expect(both?.message).to.equal("In our sessions sql_mode is not strict, and autocommit is off.");
    expect(both?.fix).to.include("proxy").and.include("autocommit");
  });

  it("reads the isolation under MariaDB's older name", () => {
    const { transaction_isolation: _, ...others } = SAFE;
    const variables = new Map(Object.entries({ ...others, tx_isolation: "READ-COMMITTED" }));
    const notified = { version: "10.11.6-MariaDB", connections: 1, foreignTables: [], variables };
    expect(
      classifyServer(notified, { connectionsMax: 13, lockWaitSeconds: 3 }).find(({ name }) => name === "mysql session")
        ?.result,
    ).to.equal("ok");
  });

  it("asks for a flushed binary log only where there is one", () => {
    expect(wrong({ log_bin: "OFF", sync_binlog: "0", binlog_format: "STATEMENT" })).to.deep.equal([]);
  });

  it("says the fix in the words of the server at hand", () => {
    expect(wrong({ sync_binlog: "0" })[0]?.fix).to.equal("SET PERSIST sync_binlog = 1;");
    expect(wrong({ sync_binlog: "0" }, { version: "11.4.2-MariaDB" })[0]?.fix).to.match(
      /^SET GLOBAL sync_binlog = 1; and the same under \[mysqld\]/,
    );
  });

  it("takes row formats with long index columns, and a server that has no such setting", () => {
    expect(wrong({ innodb_default_row_format: "compressed" })).to.deep.equal([]);
    expect(wrong({ innodb_default_row_format: "redundant" })).to.have.lengthOf(1);
  });
});

describe("The doctor of MySQL, at a server that refuses named locks", () => {
  const session = (all: () => Promise<unknown[]>): Session => ({ all }) as unknown as Session;

  it("says so, with the server's words", async () => {
    const found = await checkLocks(session(() => Promise.reject(new Error("GET_LOCK is prohibited"))));
    expect(found).to.include({
      name: "mysql locks",
      result: "failed",
      message: "Named locks are refused: GET_LOCK is prohibited.",
    });
    expect((await checkLocks(session(() => Promise.resolve([{ got: null }])))).result).to.equal("failed");
    expect((await checkLocks(session(() => Promise.resolve([{ got: 1 }])))).result).to.equal("ok");
  });
});
