import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import type { Knex } from "knex";
import { KnexDatabase } from "../../adapters/storage/sql/database.js";
import type { Connections } from "../../adapters/storage/sql/dialect.js";
import { createStores } from "../../adapters/storage/sql/index.js";
import { sqliteDialect } from "../../adapters/storage/sql/sqlite/dialect.js";
import { SqliteSession } from "../../adapters/storage/sql/sqlite/session.js";
import { TableNames } from "../../adapters/storage/sql/table-names.js";
import type { Clock } from "../../core/ports/clock.js";
import { createMigratedFile, temporaryFolder } from "./databases.js";
import { ManualRandom } from "./doubles/manual-random.js";
import { MemoryDatabase } from "./memory-database.js";
import { storageUnderTest, type StorageUnderTest } from "./storage-under-test.js";

const NAMES = new TableNames("fermata_");

/** A storage under test in memory. */
export interface MemoryStorage extends StorageUnderTest {
  /** Runs a statement past the stores, for rows that they would never write. Tables have the prefix `fermata_`. */
  readonly sql: (text: string, ...values: readonly (string | number | null)[]) => void;
}

let opened: Promise<MemoryDatabase> | undefined;

/**
 * The stores of the SQL adapter over one SQLite in memory, as a migration leaves it. The database is opened once in a
 * process, and each call empties it: the test that had it before has ended. A test has it within a few milliseconds.
 */
export async function memoryStorage(clock: Clock): Promise<MemoryStorage> {
  const database = await (opened ??= migratedDatabase());
  database.restore();
  const stores = createStores(new KnexDatabase(sqliteDialect, NAMES, connectionsTo(database)), {
    clock,
    random: new ManualRandom(),
  });
  return { ...storageUnderTest(stores), sql: (text, ...values) => void database.prepared(text).run(...values) };
}

async function migratedDatabase(): Promise<MemoryDatabase> {
  const folder = await temporaryFolder();
  const file = join(folder, "migrated.db");
  await createMigratedFile(file);
  return new MemoryDatabase(await serialized(file));
}

/** The content of a database file that no process has open. */
export async function serialized(file: string): Promise<Buffer> {
  const copy = `${file}-copy`;
  await copyFile(file, copy);
  const database = new BetterSqlite3(copy);
  // A database in memory has no log next to it.
  database.pragma("journal_mode = DELETE");
  const bytes = database.serialize();
  database.close();
  return bytes;
}

/**
 * One connection: transactions follow one another. A read outside of them waits for none, as on a second connection,
 * and unlike there it sees what the one under way has written.
 */
function connectionsTo(database: MemoryDatabase): Connections {
  let last: Promise<unknown> = Promise.resolve();
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const run = last.then(work);
    last = run.catch(() => undefined);
    return run;
  };
  const transaction: Connections["transaction"] = (work) =>
    alone(async () => {
      const session = new SqliteSession(database.connection, NAMES);
      database.run("BEGIN IMMEDIATE");
      try {
        const result = await work(session);
        session.isOpen = false;
        database.run("COMMIT");
        return result;
      } finally {
        session.isOpen = false;
        if (database.connection.inTransaction) database.run("ROLLBACK");
      }
    });
  return {
    write: unused<Knex>("write"),
    read: unused<Knex>("read"),
    reader: new SqliteSession(database.connection, NAMES),
    transaction,
    join: () => Promise.reject(new Error("No app has a transaction on a storage in memory.")),
    snapshot: (work) => work(new SqliteSession(database.connection, NAMES)),
    alone: () => Promise.reject(new Error("A storage in memory is migrated.")),
    file: null,
    pools: () => [],
    close: () => Promise.resolve(),
  };
}

function unused<T extends object>(name: string): T {
  const used = (): never => {
    throw new Error(`A storage in memory has no handle ${name}.`);
  };
  return new Proxy(used, { get: used, apply: used }) as unknown as T;
}
