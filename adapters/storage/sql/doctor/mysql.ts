import { type CheckResult, ok } from "../../../../core/ports/self-check.js";
import type { KnexDatabase } from "../database.js";
import { placeOf } from "./mysql-connection.js";
import { checkLocks, checkPrivileges } from "./mysql-privileges.js";
import { classifyServer, type MysqlServer } from "./mysql-settings.js";
import { POOL_MAX } from "../mysql/options.js";
import type { Session } from "../session.js";
import type { TableNames } from "../table-names.js";

/** Of a process: its pool, and what keeps its leases alive. */
const CONNECTIONS_MAX = POOL_MAX + 1;

/** Where a rollback that does not happen costs credits. */
const LEDGER = ["balances", "ledger_entries", "jobs", "idempotency_records"];

/** @param target the part behind `mysql:` in `storage.url` */
export function checkMysql(database: KnexDatabase, target: string): Promise<CheckResult[]> {
  const { user, server, database: name } = placeOf(target);
  return database.reading(async (session) => [
    ok("mysql connection", `${server} lets ${user} into ${name}.`),
    ...classifyServer(await readServer(session, database.names), {
      connectionsMax: CONNECTIONS_MAX,
      lockWaitSeconds: database.dialect.lockWaitMs / 1000,
    }),
    await checkPrivileges(session),
    await checkLocks(session),
  ]);
}

async function readServer(session: Session, names: TableNames): Promise<MysqlServer> {
  const [row] = await session.all<{ version: string }>("SELECT VERSION() AS version");
  const variables = await session.all<Variable>("SHOW VARIABLES");
  const [connected] = await session.all<Variable>("SHOW GLOBAL STATUS LIKE 'Threads_connected'");
  const tables = await session.all<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = DATABASE() AND engine <> 'InnoDB' AND table_name IN (${LEDGER.map(() => "?").join(", ")})
     ORDER BY table_name`,
    LEDGER.map((table) => names.of(table)),
  );
  return {
    version: row?.version ?? "",
    variables: new Map(variables.map(({ Variable_name, Value }) => [Variable_name, Value])),
    connections: Number(connected?.Value ?? 0),
    foreignTables: tables.map((table) => table.name),
  };
}

interface Variable {
  readonly Variable_name: string;
  readonly Value: string;
}
