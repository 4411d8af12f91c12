import {
  createStores,
  ForeignTablesError,
  type KnexDatabase,
  openDatabase,
  ThreadLeaseRenewal,
} from "../adapters/storage/sql/index.js";
import type { Clock } from "../core/ports/clock.js";
import type { Logger } from "../core/ports/logger.js";
import type { OpenedStorage } from "../core/ports/opened-storage.js";
import type { Random } from "../core/ports/random.js";
import { SchemaError } from "./app.js";
import type { Settings } from "./settings.js";

export interface StorageParts {
  readonly logger: Logger;
  /** For the waits between the attempts of a transaction. */
  readonly clock: Clock;
  readonly random: Random;
  /** Whether the schema is brought up to date; otherwise an old one is refused. */
  readonly migrate: boolean;
}

/**
 * Opens the database of `storage.url`.
 *
 * @throws {SchemaError} the schema is older or newer than this version
 */
export async function openStorage({ storage }: Settings, parts: StorageParts): Promise<OpenedStorage> {
  const { logger, migrate } = parts;
  const database = await openDatabase({ ...storage, logger });
  try {
    await prepareSchema(database, migrate);
  } catch (error) {
    await database.close();
    throw error;
  }
  const address = { url: storage.url, tablePrefix: database.names.prefix };
  return {
    stores: createStores(database, parts),
    checks: {
      storage: () => database.check(),
      migrations: async () => {
        const { state } = await database.schemaStatus();
        if (state !== "current") throw new SchemaError(`The schema is ${state}.`);
      },
    },
    readTime: () => database.readTime(),
    renewLeases: (owner, leaseMs) => new ThreadLeaseRenewal({ storage: address, owner, leaseMs, logger }),
    close: () => database.close(),
  };
}

async function prepareSchema(database: KnexDatabase, migrate: boolean): Promise<void> {
  const status = await database.schemaStatus();
  if (status.state === "newer") {
    throw new SchemaError(
      `The storage was migrated by a newer Fermata (${status.migrations.join(", ")}). Start that version.`,
    );
  }
  if (status.state === "foreign") throw new SchemaError(new ForeignTablesError(status.tables).message);
  if (status.state === "current") return;
  if (!migrate)
    throw new SchemaError(`The storage lacks ${status.migrations.join(", ")}. Run \`fermata migrate\` first.`);
  await database.migrate();
}
