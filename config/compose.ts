import "reflect-metadata";
import { Container } from "inversify";
import { PrometheusMetrics } from "../adapters/observability/metrics.js";
import { WinstonLogger } from "../adapters/observability/winston-logger.js";
import { StorageClock } from "../adapters/system/storage-clock.js";
import { createStores, type KnexDatabase, openDatabase } from "../adapters/storage/knex/index.js";
import type { AudioStore } from "../core/ports/audio-store.js";
import type { JobQueue } from "../core/ports/job-queue.js";
import type { Logger } from "../core/ports/logger.js";
import type { ProviderDefinition } from "../core/ports/music-provider.js";
import { openAudio, openQueue, prepareDataDir } from "./adapters.js";
import { type App, SchemaError } from "./app.js";
import { ComposedApp } from "./composed-app.js";
import {
  bindLeaseRenewal,
  bindNetwork,
  bindRateLimiter,
  bindStorage,
  bindSystem,
  type NetworkOverrides,
  type SystemOverrides,
} from "./bindings/adapters.js";
import { bindAudit } from "./bindings/audit.js";
import { bindAccounts, bindGenerations, bindJobs } from "./bindings/core.js";
import { bindLibrary } from "./bindings/library.js";
import { bindMaintenance } from "./bindings/maintenance.js";
import { bindPlayback, type PlaybackOverrides } from "./bindings/playback.js";
import { bindProviders } from "./bindings/providers.js";
import { bindSecrets } from "./bindings/secrets.js";
import { bindUsage } from "./bindings/usage.js";
import { bindWebhooks } from "./bindings/webhooks.js";
import { loadPlugins } from "./plugins.js";
import { type OpenedSecrets, openSecrets } from "./secret-keys.js";
import type { Settings } from "./settings.js";
import { TOKENS as T } from "./tokens.js";

/** What an embedding app or a test puts in place of an adapter. */
export interface Overrides extends SystemOverrides, NetworkOverrides, PlaybackOverrides {
  /** Who acts, in the audit log: 1 to 100 characters, `app` by default. */
  readonly actor?: string;
  /** Provider plugins beside those named in config. */
  readonly plugins?: readonly ProviderDefinition[];
  readonly logger?: Logger;
  readonly queue?: JobQueue;
  readonly audio?: AudioStore;
}

/**
 * Opens storage and files and wires the app; nothing listens or works yet.
 *
 * @param options `migrate` brings the schema up to date first (default true); false refuses an old one
 * @throws {SettingsError} a plugin cannot be loaded or set up
 * @throws {SchemaError} the schema is older or newer than this version
 */
export async function compose(
  settings: Settings,
  overrides: Overrides = {},
  options: { readonly migrate?: boolean } = {},
): Promise<App> {
  const logger = overrides.logger ?? WinstonLogger.open(settings.logs);
  const plugins = await loadPlugins(settings, overrides.plugins);
  if (overrides.audio === undefined) await prepareDataDir(settings.dataDir, logger);
  const database = await openDatabase({ url: settings.storage.url, logger });
  let storageClock: StorageClock | null = null;
  let queue: JobQueue | null = null;
  let secrets: OpenedSecrets | null = null;
  try {
    await prepareSchema(database, options.migrate ?? true);
    if (overrides.clock === undefined) {
      storageClock = await StorageClock.start({ readStorageTime: () => database.readTime(), logger });
    }
    const clock = overrides.clock ?? (storageClock as StorageClock);
    const audio = overrides.audio ?? (await openAudio(settings, clock));
    const container = new Container({ defaultScope: "Singleton" });
    bindSystem(container, { ...overrides, clock });
    const stores = createStores(database, { clock, random: container.get(T.random) });
    secrets = await openSecrets(settings, stores, { clock, logger });
    queue = overrides.queue ?? (await openQueue(settings, logger));
    bindStorage(container, stores);
    container.bind(T.settings).toConstantValue(settings);
    container.bind(T.logger).toConstantValue(logger);
    const metrics = settings.metrics.enabled ? openMetrics(logger, storageClock) : null;
    container.bind(T.metrics).toConstantValue({ current: metrics });
    container.bind(T.audio).toConstantValue(audio);
    container.bind(T.queue).toConstantValue(queue);
    bindSecrets(container, secrets);
    bindProviders(container, plugins);
    bindRateLimiter(container);
    bindAudit(container, overrides.actor);
    bindAccounts(container);
    bindGenerations(container);
    bindJobs(container);
    bindNetwork(container, overrides);
    bindWebhooks(container);
    bindMaintenance(container);
    bindUsage(container);
    bindLibrary(container);
    bindPlayback(container, overrides);
    bindLeaseRenewal(container, overrides);
    return new ComposedApp(settings, container, { database, storageClock, keyring: secrets.keyring }, plugins);
  } catch (error) {
    await queue?.close();
    await secrets?.keyring.close();
    storageClock?.close();
    await database.close();
    throw error;
  }
}

function openMetrics(logger: Logger, storageClock: StorageClock | null): PrometheusMetrics {
  const metrics = new PrometheusMetrics(logger, { processMetrics: true });
  const help = "How far this machine's clock is ahead of the storage's, which is used for all that is stored";
  if (storageClock !== null) metrics.gauge({ name: "clock_offset_seconds", help }, () => storageClock.offsetMs / 1000);
  return metrics;
}

async function prepareSchema(database: KnexDatabase, migrate: boolean): Promise<void> {
  const status = await database.schemaStatus();
  if (status.state === "newer") {
    throw new SchemaError(
      `The storage was migrated by a newer Fermata (${status.migrations.join(", ")}). Start that version.`,
    );
  }
  if (status.state === "current") return;
  if (!migrate)
    throw new SchemaError(`The storage lacks ${status.migrations.join(", ")}. Run \`fermata migrate\` first.`);
  await database.migrate();
}
