import { dirname } from "node:path";
import { checkStorage } from "../../adapters/storage/sql/doctor/doctor.js";
import { explainRefusal } from "../../adapters/storage/sql/doctor/refusal.js";
import {
  createStores,
  ForeignTablesError,
  type KnexDatabase,
  openDatabase,
  openHostDatabase,
  ThreadLeaseRenewal,
} from "../../adapters/storage/sql/index.js";
import { checkFolder } from "../../adapters/system/doctor.js";
import type { AdapterCheckHost, AdapterHost } from "../../core/ports/adapter.js";
import type { HostDatabase } from "../../core/ports/host-database.js";
import type { OpenedStorage } from "../../core/ports/opened-storage.js";
import type { CheckResult } from "../../core/ports/self-check.js";
import { SchemaError } from "../schema-error.js";
import { pathOfUrl, schemeOf } from "../settings/adapter-url.js";

type Prefix = { readonly settings: { readonly tablePrefix: string | undefined } };

/** Opens the database of a URL; its schema is left as it is. */
export async function openSqlStorage(host: Omit<AdapterHost, "settings"> & Prefix): Promise<OpenedStorage> {
  const { url, settings, logger } = host;
  const open = (): Promise<KnexDatabase> => openDatabase({ url, tablePrefix: settings.tablePrefix ?? null, logger });
  const explained = <T>(work: () => Promise<T>): Promise<T> =>
    work().catch((error: unknown) => {
      throw explainRefusal(url, error);
    });
  const database = await explained(open);
  const address = { url, tablePrefix: database.names.prefix };
  return {
    ...storageOf(database, host),
    schema: {
      check: () => explained(() => checkSchema(database)),
      migrate: () => explained(() => migrate(database)),
    },
    renewLeases: (owner, leaseMs) => new ThreadLeaseRenewal({ storage: address, owner, leaseMs, logger }),
  };
}

/**
 * Opens an app's own database; its schema is left as it is. Leases are renewed by a timer of the process: a thread
 * could not use the app's connections.
 *
 * @throws {OperationRefusedError} it is no open database of an engine that is known, or its connections do not fit
 */
export async function openHostStorage(
  given: HostDatabase,
  host: Pick<AdapterHost, "logger" | "clock" | "random">,
  tablePrefix: string | null,
): Promise<OpenedStorage> {
  return storageOf(await openHostDatabase(given, { logger: host.logger, tablePrefix }), host);
}

function storageOf(database: KnexDatabase, ports: Pick<AdapterHost, "clock" | "random">): OpenedStorage {
  return {
    stores: createStores(database, ports),
    checks: { storage: () => database.check() },
    schema: { check: () => checkSchema(database), migrate: () => migrate(database) },
    readTime: () => database.readTime(),
    pools: () => database.pools(),
    close: () => database.close(),
  };
}

async function checkSchema(database: KnexDatabase): Promise<void> {
  const lacking = await lackingMigrations(database);
  if (lacking.length > 0)
    throw new SchemaError(`The storage lacks ${lacking.join(", ")}. Run \`fermata migrate\` first.`);
}

async function migrate(database: KnexDatabase): Promise<readonly string[]> {
  return (await lackingMigrations(database)).length === 0 ? [] : database.migrate();
}

/** @throws {SchemaError} a newer schema, on which this version does not run, or one with tables of something else */
async function lackingMigrations(database: KnexDatabase): Promise<readonly string[]> {
  const status = await database.schemaStatus();
  if (status.state === "newer" && !status.runs) throw newerSchema(status.migrations);
  if (status.state === "foreign") throw new SchemaError(new ForeignTablesError(status.tables).message);
  return status.state === "pending" ? status.migrations : [];
}

function newerSchema(migrations: readonly string[]): SchemaError {
  return new SchemaError(`The storage was migrated by a newer Fermata (${migrations.join(", ")}). Start that version.`);
}

/** Checks the database, and the folder of a file that is outside of the data directory. */
export async function checkSqlStorage(
  host: Omit<AdapterCheckHost, "settings"> & Prefix,
): Promise<readonly CheckResult[]> {
  const { url, settings, logger, dataDir } = host;
  const checked = await checkStorage({ url, tablePrefix: settings.tablePrefix ?? null, logger });
  const folder = schemeOf(url) === "sqlite" ? dirname(pathOfUrl(url)) : dataDir;
  if (folder === dataDir) return checked;
  // It may hold other things too, as /var/lib does; the check of the file sees who may read the database.
  const place = { name: "database directory", path: folder, setting: "storage.url", fileMaxBytes: 0, isPrivate: false };
  return [...(await checkFolder(place)), ...checked];
}
