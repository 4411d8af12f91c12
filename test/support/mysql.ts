import { createStores, type KnexDatabase, openDatabase } from "../../adapters/storage/sql/index.js";
import { SILENT, type StorageKind, TEST_PORTS } from "./databases.js";
import { query } from "./mysql-server.js";
import { afterAllTests } from "./setup.js";
import { uniqueName } from "./services.js";
import { sharedServer } from "./shared-mysql.js";
import { storageUnderTest, type StorageUnderTest } from "./storage-under-test.js";

export interface MysqlUnderTest extends StorageUnderTest {
  readonly database: KnexDatabase;
  readonly url: string;
}

export const mysqlStorage = { name: "MySQL", open: openMysql } satisfies StorageKind;

/** A private database on the server, with the schema. */
async function openMysql(): Promise<MysqlUnderTest> {
  const { url, drop } = await createMigratedMysqlDatabase();
  const database = await openDatabase({ url, logger: SILENT });
  const close = async (): Promise<void> => {
    await database.close();
    await drop();
  };
  return { ...storageUnderTest(createStores(database, TEST_PORTS), close), database, url };
}

export interface MysqlDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * A database as {@link createMysqlDatabase} creates it, with the schema, and the rows that migrations write.
 *
 * @param server the shared server by default
 */
export async function createMigratedMysqlDatabase(server?: string): Promise<MysqlDatabase> {
  const on = server ?? (await sharedServer());
  const { tables, rows } = await templateOn(on);
  const database = await createMysqlDatabase(on);
  await runAll(database, [...tables.values(), ...rows]);
  return database;
}

interface UnusedMysql {
  readonly server: string;
  readonly database: MysqlDatabase;
}

const unused: UnusedMysql[] = [];

/**
 * The same, for a caller who changes rows only: `drop` deletes them, and the next caller gets the database. Deleting
 * all rows takes a hundredth of the time in which the tables are created.
 */
export async function borrowMysqlDatabase(server?: string): Promise<MysqlDatabase> {
  const on = server ?? (await sharedServer());
  const index = unused.findIndex((one) => one.server === on);
  const database =
    index < 0 ? await createMigratedMysqlDatabase(on) : (unused.splice(index, 1)[0] as UnusedMysql).database;
  const drop = async (): Promise<void> => {
    const { tables, rows } = await templateOn(on);
    const found = await tablesOf(database.url);
    if (found.length !== tables.size || !found.every((name) => tables.has(name))) return database.drop();
    await runAll(database, [...found.map((name) => `DELETE FROM ${name}`), ...rows]);
    if (unused.length === 0) afterAllTests(dropUnused);
    unused.push({ server: on, database });
  };
  return { url: database.url, drop };
}

async function dropUnused(): Promise<void> {
  for (const { database } of unused.splice(0)) await database.drop();
}

/** Statements that copy a migrated database into the one that a connection is in. */
interface Template {
  /** One for each table, by its name. */
  readonly tables: ReadonlyMap<string, string>;
  readonly rows: readonly string[];
}

/** By the server. */
const templates = new Map<string, Promise<Template>>();

/** Migrating takes four times as long as creating the tables at once, so each process does it once on a server. */
function templateOn(server: string): Promise<Template> {
  const template = templates.get(server) ?? createTemplate(server);
  templates.set(server, template);
  return template;
}

async function createTemplate(server: string): Promise<Template> {
  const { url, drop } = await createMysqlDatabase(server);
  afterAllTests(drop);
  const database = await openDatabase({ url, logger: SILENT });
  await database.migrate();
  await database.close();
  const from = new URL(url).pathname.slice(1);
  const tables = await tablesOf(url);
  const rows: string[] = [];
  for (const table of tables) {
    const [row] = await query(url, `SELECT 1 FROM ${table} LIMIT 1`);
    if (row !== undefined) rows.push(`INSERT INTO ${table} SELECT * FROM ${from}.${table}`);
  }
  // An installation of its own has an id of its own.
  rows.push("UPDATE fermata_installation SET value = UUID() WHERE name = 'id'");
  return { tables: new Map(tables.map((table) => [table, `CREATE TABLE ${table} LIKE ${from}.${table}`])), rows };
}

async function tablesOf(url: string): Promise<string[]> {
  const sql = "SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()";
  return (await query<{ readonly name: string }>(url, sql)).map(({ name }) => name);
}

async function runAll({ url }: MysqlDatabase, statements: readonly string[]): Promise<void> {
  await query(`${url}?multipleStatements=true`, statements.join("; "));
}

/** An empty database with a unique name, on the shared server or on another one. */
export async function createMysqlDatabase(server?: string): Promise<MysqlDatabase> {
  const on = server ?? (await sharedServer());
  const name = uniqueName();
  await query(on, `CREATE DATABASE ${name}`);
  const drop = async (): Promise<void> => {
    await query(on, `DROP DATABASE ${name}`);
  };
  return { url: `${on}/${name}`, drop };
}
