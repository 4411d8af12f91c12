import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { createStores, type KnexDatabase, openDatabase } from "../../adapters/storage/sql/index.js";
import type { Clock } from "../../core/ports/clock.js";
import type { Logger } from "../../core/ports/logger.js";
import type { Random } from "../../core/ports/random.js";
import { storageUnderTest, type StorageUnderTest } from "./storage-under-test.js";

/** A storage that the contract suites run against. */
export interface StorageKind {
  readonly name: string;
  open(): Promise<StorageUnderTest>;
}

/** A private database with its URL; for promises of one engine only. */
export interface SqliteUnderTest extends StorageUnderTest {
  readonly database: KnexDatabase;
  /** The file; another process opens it by this URL. */
  readonly url: string;
}

export const SILENT: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => SILENT,
};

/** Waits end at once, so that retries take no time. */
export const TEST_PORTS: { readonly clock: Clock; readonly random: Random } = {
  clock: { now: () => Date.now(), sleep: () => new Promise((resolve) => setImmediate(resolve)) },
  random: { bytes: (count) => new Uint8Array(count), fraction: () => 0.5 },
};

export const sqliteStorage = { name: "SQLite", open: openSqlite } satisfies StorageKind;

async function openSqlite(): Promise<SqliteUnderTest> {
  const folder = await temporaryFolder();
  const file = join(folder, "fermata.db");
  await createMigratedFile(file);
  const url = `sqlite:${file}`;
  const database = await openDatabase({ url, logger: SILENT });
  const close = async (): Promise<void> => {
    await database.close();
    await rm(folder, { recursive: true });
  };
  return { ...storageUnderTest(createStores(database, TEST_PORTS), close), database, url };
}

const folders: string[] = [];
process.once("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A new folder that is deleted when the process ends. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "fermata-storage-"));
  folders.push(folder);
  return folder;
}

let migrated: Promise<string> | undefined;

/**
 * Writes a SQLite file with the schema and the rows that migrations write. Migrating takes longer than everything else
 * in a suite, so it happens once and the file is copied.
 */
export async function createMigratedFile(file: string): Promise<void> {
  await copyFile(await (migrated ??= migrateOnce()), file);
  const database = new BetterSqlite3(file);
  // An installation of its own has an id of its own.
  database.prepare("UPDATE fermata_installation SET value = ? WHERE name = 'id'").run(randomUUID());
  database.close();
}

async function migrateOnce(): Promise<string> {
  const folder = await temporaryFolder();
  const file = join(folder, "migrated.db");
  const database = await openDatabase({ url: `sqlite:${file}`, logger: SILENT });
  await database.migrate();
  await database.close();
  return file;
}
