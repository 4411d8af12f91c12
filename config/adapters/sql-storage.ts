import { dirname } from "node:path";
import { checkStorage } from "../../adapters/storage/sql/doctor/doctor.js";
import { explainRefusal } from "../../adapters/storage/sql/doctor/refusal.js";
import {
  createStores,
  ForeignTablesError,
  type KnexDatabase,
  openDatabase,
  openHostDatabase,
  Replica,
  ThreadLeaseRenewal,
} from "../../adapters/storage/sql/index.js";
import { redactText } from "../../adapters/observability/redact.js";
import { checkFolder } from "../../adapters/system/doctor.js";
import type { AdapterCheckHost, AdapterHost } from "../../core/ports/adapter.js";
import type { HostDatabase } from "../../core/ports/host-database.js";
import type { OpenedStorage } from "../../core/ports/opened-storage.js";
import { type CheckResult, ok, warning } from "../../core/ports/self-check.js";
import { SchemaError } from "../schema-error.js";
import { pathOfUrl, schemeOf } from "../settings/adapter-url.js";

interface Own {
  readonly settings: {
    readonly tablePrefix: string | undefined;
    readonly readUrl: string | undefined;
    readonly readLagSeconds: number;
  };
}

/** Opens the database of a URL; its schema is left as it is. */
export async function openSqlStorage(host: Omit<AdapterHost, "settings"> & Own): Promise<OpenedStorage> {
  const { url, settings, logger } = host;
  const open = (): Promise<KnexDatabase> => openDatabase({ url, tablePrefix: settings.tablePrefix ?? null, logger });
  const explained = <T>(work: () => Promise<T>): Promise<T> =>
    work().catch((error: unknown) => {
      throw explainRefusal(url, error);
    });
  const database = await explained(open);
  const address = { url, tablePrefix: database.names.prefix };
  const replica = settings.readUrl === undefined ? null : replicaOf(database, settings.readUrl, host);
  return {
    ...storageOf(database, host, replica),
    schema: {
      check: () => explained(() => checkSchema(database)),
      migrate: () => explained(() => migrate(database)),
    },
    renewLeases: (owner, leaseMs) => new ThreadLeaseRenewal({ storage: address, owner, leaseMs, logger }),
  };
}

function replicaOf(
  primary: KnexDatabase,
  url: string,
  { settings, logger }: Pick<AdapterHost, "logger"> & Own,
): Replica {
  const tablePrefix = primary.names.prefix;
  const open = (): Promise<KnexDatabase> => openDatabase({ url, tablePrefix, logger, readsOnly: true });
  return new Replica({ primary, open, lagMs: settings.readLagSeconds * 1000, logger });
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

function storageOf(
  database: KnexDatabase,
  ports: Pick<AdapterHost, "clock" | "random">,
  replica: Replica | null = null,
): OpenedStorage {
  return {
    stores: createStores(database, ports, replica ?? database),
    checks: { storage: () => database.check() },
    schema: { check: () => checkSchema(database), migrate: () => migrate(database) },
    readTime: () => database.readTime(),
    pools: () => database.pools(),
    async close() {
      await replica?.close();
      await database.close();
    },
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
export async function checkSqlStorage(host: Omit<AdapterCheckHost, "settings"> & Own): Promise<readonly CheckResult[]> {
  const { url, settings, logger, dataDir } = host;
  const ofPrimary = await checkStorage({ url, tablePrefix: settings.tablePrefix ?? null, logger });
  const isUsable = ofPrimary.every(({ result }) => result !== "failed");
  const checked = isUsable ? [...ofPrimary, ...(await checkReplica(host))] : ofPrimary;
  const folder = schemeOf(url) === "sqlite" ? dirname(pathOfUrl(url)) : dataDir;
  if (folder === dataDir) return checked;
  // It may hold other things too, as /var/lib does; the check of the file sees who may read the database.
  const place = { name: "database directory", path: folder, setting: "storage.url", fileMaxBytes: 0, isPrivate: false };
  return [...(await checkFolder(place)), ...checked];
}

/** Whether reads that may be old go to the replica, where there is one. */
async function checkReplica(host: Omit<AdapterCheckHost, "settings"> & Own): Promise<readonly CheckResult[]> {
  const { url, settings, logger } = host;
  if (settings.readUrl === undefined) return [];
  const name = "storage replica";
  const database = await openDatabase({ url, tablePrefix: settings.tablePrefix ?? null, logger });
  const replica = replicaOf(database, settings.readUrl, host);
  try {
    const seconds = (await replica.freshLag()) / 1000;
    if (seconds <= settings.readLagSeconds) return [ok(name, `It is used: it is ${seconds} s behind.`)];
    const message = `Not used: it is ${seconds} s behind, more than storage.readLagSeconds. The primary is read.`;
    return [warning(name, message, "Look at the replication, or raise storage.readLagSeconds.")];
  } catch (error) {
    const message = `Not used: ${redactText((error as Error).message)}. The primary is read.`;
    return [warning(name, message, "Start it, or correct storage.readUrl and the rights of its user.")];
  } finally {
    await replica.close();
    await database.close();
  }
}
