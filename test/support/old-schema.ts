import { join } from "node:path";
import { createStores, type KnexDatabase, openDatabase } from "../../adapters/storage/sql/index.js";
import { MIGRATIONS } from "../../adapters/storage/sql/migrations/index.js";
import type { Migration } from "../../adapters/storage/sql/migrations/migration.js";
import { ACCOUNTS } from "../../adapters/storage/sql/accounts/account-tables.js";
import { BALANCES } from "../../adapters/storage/sql/ledger/ledger-tables.js";
import { emptyBalance } from "../../core/credits/balance.js";
import { aBalance, aMovement, anAccount } from "./builders.js";
import { SILENT, type SqliteUnderTest, temporaryFolder, TEST_PORTS } from "./databases.js";
import { storageUnderTest } from "./storage-under-test.js";
import { createMysqlDatabase } from "./mysql.js";

/** Opens a database with the schema from before a migration. */
export interface OldSchema {
  readonly name: string;
  openBefore(migration: string): Promise<SqliteUnderTest>;
}

export const oldSqlite: OldSchema = {
  name: "SQLite",
  async openBefore(migration) {
    return opened(`sqlite:${join(await temporaryFolder(), "old.db")}`, migration, () => Promise.resolve());
  },
};

export const oldMysql: OldSchema = {
  name: "MySQL",
  async openBefore(migration) {
    const { url, drop } = await createMysqlDatabase();
    return opened(url, migration, drop);
  },
};

async function opened(url: string, migration: string, drop: () => Promise<void>): Promise<SqliteUnderTest> {
  const database = await openDatabase({ url, logger: SILENT });
  const before = MIGRATIONS.slice(
    0,
    MIGRATIONS.findIndex(({ name }) => name === migration),
  );
  const { names } = database;
  const { columns } = database.dialect;
  await database.write.migrate.latest({
    tableName: database.migrationsTable,
    migrationSource: {
      getMigrations: () => Promise.resolve([...before]),
      getMigrationName: ({ name }: Migration) => name,
      getMigration: ({ up }: Migration) =>
        Promise.resolve({
          up: (knex) => up(knex, columns, names),
          down: () => Promise.reject(new Error("Only forward.")),
        }),
    },
  });
  const close = async (): Promise<void> => {
    await database.close();
    await drop();
  };
  const storage = storageUnderTest(createStores(database, TEST_PORTS));
  return { ...storage, addAccount: addAccountWith(database, storage), database, url, close };
}

/** Writes the columns that exist: the store's own insert has today's. */
function addAccountWith(
  { write, names }: KnexDatabase,
  { apply }: Pick<SqliteUnderTest, "apply">,
): SqliteUnderTest["addAccount"] {
  return async (overrides = {}, credits = {}) => {
    const account = anAccount(overrides);
    const row: [string, unknown][] = [];
    for (const [name, value] of Object.entries(ACCOUNTS.toRow(account)))
      if (await write.schema.hasColumn(names.of(ACCOUNTS.name), name)) row.push([name, value]);
    await write(names.of(ACCOUNTS.name)).insert(Object.fromEntries(row));
    await write(names.of(BALANCES.name)).insert(BALANCES.toRow(emptyBalance(account.id)));
    await apply(aMovement(aBalance({ accountId: account.id }), credits));
    return account;
  };
}

/** Runs a migration that was applied, as after one that was interrupted at its end. */
export function migrateAgain({ write, dialect, names }: KnexDatabase, name: string): Promise<void> {
  return migrationOf(name).up(write, dialect.columns, names);
}

function migrationOf(name: string): Migration {
  const migration = MIGRATIONS.find((one) => one.name === name);
  if (migration === undefined) throw new Error(`There is no migration ${name}.`);
  return migration;
}

/**
 * Runs a migration that is interrupted before each of its writes in turn, until it completes: each run does one write
 * more.
 *
 * @returns how often it was interrupted
 */
export async function migrateInterrupted(database: KnexDatabase, name: string): Promise<number> {
  const { write, dialect, names } = database;
  const migration = migrationOf(name);
  const client = write.client as { query(connection: unknown, statement: Statement | string): Promise<unknown> };
  const { query } = client;
  const written = new Set<string>();
  try {
    for (let interruptions = 0; ; interruptions++) {
      let isLast = false;
      client.query = (connection, statement) => {
        const key = keyOf(statement);
        if (key !== null && !written.has(key)) {
          if (isLast) return Promise.reject(new Interrupted());
          isLast = true;
          written.add(key);
        }
        return query.call(client, connection, statement);
      };
      try {
        await migration.up(write, dialect.columns, names);
        return interruptions;
      } catch (error) {
        if (!(error instanceof Interrupted)) throw error;
      }
    }
  } finally {
    client.query = query;
  }
}

interface Statement {
  readonly sql: string;
  readonly bindings?: readonly unknown[];
}

const WRITES = /^\s*(alter|create|drop|insert|update|delete)\b/i;

/** The table that a statement writes to; null for a read. Times are ignored: they differ from run to run. */
function keyOf(statement: Statement | string): string | null {
  const { sql, bindings = [] } = typeof statement === "string" ? { sql: statement } : statement;
  return WRITES.test(sql) ? [sql, ...bindings.filter((value) => typeof value === "string")].join(" ") : null;
}

class Interrupted extends Error {
  override readonly name = "Interrupted";
}
