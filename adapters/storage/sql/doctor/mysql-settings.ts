import { failed, type CheckResult, ok, warning } from "../../../../core/ports/self-check.js";

/** What a server says of itself to a session of ours. */
export interface MysqlServer {
  /** As `VERSION()` has it. */
  readonly version: string;
  /** `SHOW VARIABLES`: the session's values where it has its own. */
  readonly variables: ReadonlyMap<string, string>;
  /** Connections that are open now, of all clients. */
  readonly connections: number;
  /** Our tables that are kept by another engine than InnoDB. */
  readonly foreignTables: readonly string[];
}

const OLDEST = { MySQL: [8, 0], MariaDB: [10, 6] } as const;

/** A group of 50 of the longest requests, written with as many escapes as there can be, takes some 7 MiB. */
const PACKET_MIN_BYTES = 8 * 1024 * 1024;

interface OurSide {
  /** How many connections a process opens at most. */
  readonly connectionsMax: number;
  /** What our sessions ask for. */
  readonly lockWaitSeconds: number;
}

export function classifyServer(server: MysqlServer, { connectionsMax, lockWaitSeconds }: OurSide): CheckResult[] {
  return [
    classifyVersion(server),
    classifySession(server, lockWaitSeconds),
    classifyWrites(server),
    classifyBinaryLog(server),
    classifyDurability(server),
    classifyEngine(server),
    classifyConnections(server, connectionsMax),
    classifyPackets(server),
  ];
}

function classifyVersion(server: MysqlServer): CheckResult {
  const name = "mysql version";
  const product = productOf(server);
  const shown = `${product} ${/^[\d.]+/.exec(server.version)?.[0] ?? server.version}`;
  const [major = 0, minor = 0] = server.version.split(/[.-]/).map(Number);
  const [oldestMajor, oldestMinor] = OLDEST[product];
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor))
    return ok(name, `The server is ${shown}.`);
  return failed(
    name,
    `The server is ${shown}, which is too old.`,
    "Move to MySQL 8.0, MariaDB 10.6 or later of either.",
  );
}

/**
 * Our connections ask for all of these when they open; a proxy that shares sessions, or the server's own settings, can
 * undo it.
 */
function classifySession(server: MysqlServer, lockWaitSeconds: number): CheckResult {
  const name = "mysql session";
  const isolation = (valueOf(server, "transaction_isolation") ?? valueOf(server, "tx_isolation") ?? "").replace(
    "-",
    " ",
  );
  const charsets = ["character_set_client", "character_set_connection", "character_set_results"];
  const asked: readonly (readonly [isFine: boolean, found: string, fix: string])[] = [
    [isolation === "READ COMMITTED", `the isolation is ${isolation}`, UNDONE],
    [(valueOf(server, "sql_mode") ?? "").includes("STRICT_ALL_TABLES"), "sql_mode is not strict", UNDONE],
    [
      Number(valueOf(server, "innodb_lock_wait_timeout")) === lockWaitSeconds,
      `a lock is not waited for ${lockWaitSeconds} s`,
      UNDONE,
    ],
    [
      valueOf(server, "autocommit") === "ON",
      "autocommit is off",
      "Take `autocommit`, also in init_connect, out of the server's configuration.",
    ],
    [
      charsets.every((charset) => valueOf(server, charset) === "utf8mb4"),
      `texts travel as ${valueOf(server, "character_set_client") ?? "nothing"}, which garbles them`,
      "Take `skip-character-set-client-handshake`, and `SET NAMES` in init_connect, out of the server's configuration.",
    ],
  ];
  const wrong = asked.filter(([isFine]) => !isFine);
  if (wrong.length === 0)
    return ok(name, `Our sessions have READ COMMITTED, strict mode, utf8mb4 and a lock wait of ${lockWaitSeconds} s.`);
  const fixes = new Set(wrong.map(([, , fix]) => fix));
  return failed(name, `In our sessions ${wrong.map(([, found]) => found).join(", and ")}.`, [...fixes].join(" "));
}

const UNDONE = "Something undoes what a session sets: connect without a proxy, or let the proxy keep sessions apart.";

function classifyWrites(server: MysqlServer): CheckResult {
  const name = "mysql writes";
  const names = ["read_only", "super_read_only", "innodb_read_only", "transaction_read_only", "tx_read_only"];
  const on = names.filter((variable) => (valueOf(server, variable) ?? "OFF") !== "OFF");
  if (on.length === 0) return ok(name, "The server takes writes.");
  const message =
    `The server is there to be read only: ` +
    `${on.map((variable) => `${variable} is ${valueOf(server, variable)}`).join(", ")}.`;
  return failed(name, message, `Point storage.url at the primary; if this is it: SET GLOBAL ${on[0]} = OFF;`);
}

function classifyBinaryLog(server: MysqlServer): CheckResult {
  const name = "mysql binary log";
  if (valueOf(server, "log_bin") !== "ON")
    return ok(name, "The server keeps none: no replica, and no recovery to a point in time.");
  const format = valueOf(server, "binlog_format") ?? "ROW";
  if (format === "ROW") return ok(name, "It holds rows.");
  if (format === "MIXED") return ok(name, "Its format is MIXED: at READ COMMITTED that means rows.");
  const message = `Its format is ${format}, with which the server refuses every write at READ COMMITTED.`;
  return failed(name, message, `${setting(server, "binlog_format", "ROW")} Then restart Fermata.`);
}

function classifyDurability(server: MysqlServer): CheckResult {
  const name = "mysql durability";
  const flush = valueOf(server, "innodb_flush_log_at_trx_commit");
  const sync = valueOf(server, "sync_binlog");
  const found: string[] = [];
  const fixes: string[] = [];
  // MariaDB's 3 flushes as well, in one more step.
  if (flush !== "1" && flush !== "3") {
    found.push(`innodb_flush_log_at_trx_commit is ${flush}`);
    fixes.push(setting(server, "innodb_flush_log_at_trx_commit", "1"));
  }
  if (valueOf(server, "log_bin") === "ON" && sync !== "1") {
    found.push(`sync_binlog is ${sync}`);
    fixes.push(setting(server, "sync_binlog", "1"));
  }
  if (found.length === 0) return ok(name, "What is committed is on disk.");
  return warning(
    name,
    `A power cut can undo what was answered already, credits included: ${found.join(", ")}.`,
    fixes.join(" "),
  );
}

/** The migrations name neither engine nor row format: they get the server's. */
function classifyEngine(server: MysqlServer): CheckResult {
  const name = "mysql engine";
  const engine = valueOf(server, "default_storage_engine") ?? "";
  const format = valueOf(server, "innodb_default_row_format") ?? "dynamic";
  if (server.foreignTables.length > 0) {
    const tables = server.foreignTables.join(", ");
    const fix = server.foreignTables.map((table) => `ALTER TABLE ${table} ENGINE = InnoDB;`).join(" ");
    return failed(
      name,
      `These tables have no transactions, as InnoDB does not keep them: ${tables}.`,
      `Stop Fermata; then: ${fix}`,
    );
  }
  if (engine !== "InnoDB") {
    const message = `New tables would be ${engine}, which has no transactions.`;
    return failed(name, message, setting(server, "default_storage_engine", "InnoDB"));
  }
  if (format !== "dynamic" && format !== "compressed") {
    const message = `New tables would have the row format ${format}, whose index columns are too short for ours.`;
    return failed(name, message, setting(server, "innodb_default_row_format", "dynamic"));
  }
  return ok(name, "Tables are InnoDB.");
}

function classifyConnections(server: MysqlServer, ours: number): CheckResult {
  const name = "mysql connections";
  const serverMax = Number(valueOf(server, "max_connections"));
  // 0 is no limit; the session's value is that of the account.
  const userMax = Number(valueOf(server, "max_user_connections") ?? 0) || Infinity;
  const left = serverMax - server.connections;
  const message =
    `A process opens up to ${ours} connections; the server allows ${serverMax} in all, ` + `of which ${left} are free`;
  if (userMax < ours) {
    return failed(
      name,
      `${message}, and this user ${userMax}.`,
      `Raise max_user_connections of the user to ${ours} for each process, or to 0.`,
    );
  }
  if (left >= ours) return ok(name, `${message}.`);
  const fix = setting(server, "max_connections", String(serverMax - left + 2 * ours));
  return serverMax < ours
    ? failed(name, `${message}.`, fix)
    : warning(name, `${message}: one more process could run out of them.`, fix);
}

function classifyPackets(server: MysqlServer): CheckResult {
  const name = "mysql packets";
  const bytes = Number(valueOf(server, "max_allowed_packet"));
  const shown = `max_allowed_packet is ${mib(bytes)} MiB`;
  if (bytes >= PACKET_MIN_BYTES) return ok(name, `${shown}.`);
  const message = `${shown}: a group of long requests would be refused.`;
  return warning(
    name,
    message,
    `${setting(server, "max_allowed_packet", String(2 * PACKET_MIN_BYTES))} Then restart Fermata.`,
  );
}

function valueOf(server: MysqlServer, name: string): string | undefined {
  return server.variables.get(name);
}

function productOf({ version }: MysqlServer): "MySQL" | "MariaDB" {
  return /mariadb/i.test(version) ? "MariaDB" : "MySQL";
}

/** How a setting of the server is changed for good. */
function setting(server: MysqlServer, name: string, value: string): string {
  if (productOf(server) === "MySQL") return `SET PERSIST ${name} = ${value};`;
  return `SET GLOBAL ${name} = ${value}; and the same under [mysqld] in the server's configuration.`;
}

function mib(bytes: number): number {
  return Math.floor(bytes / 1024 / 1024);
}
