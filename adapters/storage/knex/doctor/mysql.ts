import type { Clock } from "../../../../core/ports/clock.js";
import { failed, type Finding, ok, warning } from "../../../../core/ports/self-check.js";
import type { KnexDatabase } from "../database.js";
import { placeOf } from "./mysql-connection.js";
import { examineLocks, examinePrivileges } from "./mysql-privileges.js";
import { judgeServer, type MysqlServer } from "./mysql-settings.js";
import { POOL_MAX } from "../mysql/pool.js";
import type { Session } from "../session.js";

/** Of a process: its pool, and what keeps its leases alive. */
const CONNECTIONS_MAX = POOL_MAX + 1;

/** Where a rollback that does not happen costs credits. */
const BOOKS = ["balances", "ledger_entries", "jobs", "idempotency_records"];

/** Beyond this, clocks are worth mending; beyond the second, workers begin to take each other's jobs. */
const SKEW_DOUBTFUL_MS = 1_000;
const SKEW_MAX_MS = 5_000;
const SKEW_SAMPLES = 3;

/** @param target what stands behind `mysql:` in `storage.url` */
export function examineMysql(database: KnexDatabase, target: string, clock: Clock): Promise<Finding[]> {
  const { user, server, database: name } = placeOf(target);
  return database.reading(async (session) => [
    ok("mysql connection", `${server} lets ${user} into ${name}.`),
    ...judgeServer(await readServer(session), { connectionsMax: CONNECTIONS_MAX, lockWaitSeconds: database.dialect.lockWaitMs / 1000 }),
    await examinePrivileges(session),
    await examineLocks(session),
    judgeSkew(await measureSkew(session, clock)),
  ]);
}

async function readServer(session: Session): Promise<MysqlServer> {
  const [row] = await session.all<{ version: string }>("SELECT VERSION() AS version");
  const variables = await session.all<Variable>("SHOW VARIABLES");
  const [connected] = await session.all<Variable>("SHOW GLOBAL STATUS LIKE 'Threads_connected'");
  const tables = await session.all<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = DATABASE() AND engine <> 'InnoDB' AND table_name IN (${BOOKS.map(() => "?").join(", ")}) ORDER BY table_name`,
    BOOKS,
  );
  return {
    version: row?.version ?? "",
    variables: new Map(variables.map(({ Variable_name, Value }) => [Variable_name, Value])),
    connections: Number(connected?.Value ?? 0),
    foreignTables: tables.map((table) => table.name),
  };
}

/** How far the database's clock is ahead of ours, in milliseconds; from the quickest answer, which leaves the least room for error. */
async function measureSkew(session: Session, clock: Clock): Promise<number> {
  const samples: { readonly roundTrip: number; readonly ahead: number }[] = [];
  for (let taken = 0; taken < SKEW_SAMPLES; taken++) {
    const before = clock.now();
    const [row] = await session.all<{ seconds: number }>("SELECT UNIX_TIMESTAMP(NOW(3)) AS seconds");
    const after = clock.now();
    samples.push({ roundTrip: after - before, ahead: Number(row?.seconds) * 1000 - (before + after) / 2 });
  }
  samples.sort((one, other) => one.roundTrip - other.roundTrip);
  return samples[0]?.ahead ?? 0;
}

function judgeSkew(aheadMs: number): Finding {
  const name = "mysql clock";
  const offMs = Math.abs(aheadMs);
  if (offMs <= SKEW_DOUBTFUL_MS) return ok(name, `The database's clock and this machine's agree to ${Math.ceil(offMs)} ms.`);
  const found = `The database's clock is ${(offMs / 1000).toFixed(1)} s ${aheadMs > 0 ? "ahead of" : "behind"} this machine's`;
  const message = `${found}; each machine judges leases by its own clock, so one that is ahead takes jobs that others still work on.`;
  const mend = "Run a time service on every machine: `apt-get install chrony`, then `chronyc tracking`.";
  return offMs <= SKEW_MAX_MS ? warning(name, message, mend) : failed(name, message, mend);
}

interface Variable {
  readonly Variable_name: string;
  readonly Value: string;
}
