import { query, startPrivateMysql } from "./mysql-server.js";
import { isLeftover } from "./services.js";

/** The default server of the suites; `FERMATA_TEST_MYSQL` names another one, with the right to create databases. */
const NAMED_SERVER = process.env["FERMATA_TEST_MYSQL"];
const USUAL_SERVER = "mysql://root@127.0.0.1:3306";

let shared: Promise<string> | undefined;

/** @throws {Error} saying how to start a server, when none is reachable and none can be installed */
export function sharedServer(): Promise<string> {
  shared ??= findServer();
  return shared;
}

async function findServer(): Promise<string> {
  const server = NAMED_SERVER ?? USUAL_SERVER;
  const refusal = await query(server, "SELECT 1").then(
    () => null,
    (error: Error) => error,
  );
  if (refusal === null) {
    await dropLeftovers(server);
    return server;
  }
  const address = new URL(server).host;
  const complaint =
    `No MySQL or MariaDB is reachable at ${address} (${refusal.message}). Install ` +
    `mariadb-server, or set FERMATA_TEST_MYSQL to the URL of a server.`;
  if (NAMED_SERVER !== undefined) throw new Error(complaint, { cause: refusal });
  const own = await startPrivateMysql().catch((cause: unknown) => {
    throw new Error(complaint, { cause });
  });
  return own.server;
}

/** Drops the databases of test runs that were killed. */
async function dropLeftovers(server: string): Promise<void> {
  const rows = await query<{ name: string }>(server, "SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA");
  for (const { name } of rows.filter((row) => isLeftover(row.name)))
    await query(server, `DROP DATABASE IF EXISTS ${name}`);
}
