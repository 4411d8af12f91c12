import { createStores, type KnexDatabase, openDatabase } from "../../adapters/storage/sql/index.js";
import { SILENT, type StorageKind, TEST_PORTS } from "./databases.js";
import { query, startPrivateMysql } from "./mysql-server.js";
import { isLeftover, uniqueName } from "./services.js";
import { storageUnderTest, type StorageUnderTest } from "./storage-under-test.js";

/** The default server of the suites; `FERMATA_TEST_MYSQL` names another one, with the right to create databases. */
const NAMED_SERVER = process.env["FERMATA_TEST_MYSQL"];
const USUAL_SERVER = "mysql://root@127.0.0.1:3306";

export interface MysqlUnderTest extends StorageUnderTest {
  readonly database: KnexDatabase;
  readonly url: string;
}

export const mysqlStorage = { name: "MySQL", open: openMysql } satisfies StorageKind;

/** A private database on the server, with the schema. */
async function openMysql(): Promise<MysqlUnderTest> {
  const { url, drop } = await createMysqlDatabase();
  const database = await openDatabase({ url, logger: SILENT });
  await database.migrate();
  const close = async (): Promise<void> => {
    await database.close();
    await drop();
  };
  return { ...storageUnderTest(createStores(database, TEST_PORTS), close), database, url };
}

/** An empty database with a unique name, on the shared server or on another one. */
export async function createMysqlDatabase(server?: string): Promise<{ readonly url: string; drop(): Promise<void> }> {
  const on = server ?? (await sharedServer());
  const name = uniqueName();
  await query(on, `CREATE DATABASE ${name}`);
  const drop = async (): Promise<void> => {
    await query(on, `DROP DATABASE ${name}`);
  };
  return { url: `${on}/${name}`, drop };
}

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
