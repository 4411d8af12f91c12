import "reflect-metadata";
import { Container } from "inversify";
import type { AuthenticateRequest, Http } from "../adapters/http/index.js";
import type { PrometheusMetrics } from "../adapters/observability/metrics.js";
import { SharedMetricsPage } from "../adapters/observability/shared-metrics-page.js";
import { WinstonLogger } from "../adapters/observability/winston-logger.js";
import { createStores, ForeignTablesError, type KnexDatabase, openDatabase } from "../adapters/storage/sql/index.js";
import { ImportFolder } from "../adapters/audio/local/import-folder.js";
import { UlidGenerator } from "../adapters/system/id-generator.js";
import { SystemRandom } from "../adapters/system/random.js";
import { StorageClock } from "../adapters/system/storage-clock.js";
import { type Core, createCore } from "../core/create-core.js";
import type { CorePorts } from "../core/ports/core-ports.js";
import type { JobQueue } from "../core/ports/job-queue.js";
import type { Logger } from "../core/ports/logger.js";
import type { ProviderDefinition } from "../core/ports/music-provider.js";
import { openAudio, openQueue, prepareDataDir } from "./adapters.js";
import { AppProcess } from "./app-process.js";
import { type App, type AppLibrary, type HeadlessApp, SchemaError } from "./app.js";
import { bindPorts, type PortOverrides, portsOf } from "./bindings/ports.js";
import { coreOptions } from "./core-options.js";
import { PACKAGE_USERS, type PackageUser, requirePackages } from "./optional-packages.js";
import { type LoadedPlugin, loadPlugins } from "./plugins.js";
import { type OpenedSecrets, openSecrets } from "./secret-keys.js";
import type { Settings } from "./settings.js";
import { TOKENS as T } from "./tokens.js";

/** What an embedding app or a test puts in place of an adapter. */
export interface Overrides extends PortOverrides {
  /** Who acts, in the audit log: 1 to 100 characters, `app` by default. */
  readonly actor?: string;
  /**
   * Who sends a request to the API that carries no API key: `(request) => ({ accountId, scopes })`, or null, which is
   * responded to with 401. So the users whom the app has signed in can call it.
   */
  readonly authenticate?: AuthenticateRequest;
  /** Provider plugins in addition to those that the settings name. */
  readonly plugins?: readonly ProviderDefinition[];
}

/** What was opened for an app, and is closed with it. */
interface Opened {
  readonly plugins: readonly LoadedPlugin[];
  readonly database: KnexDatabase;
  readonly storageClock: StorageClock | null;
  readonly secrets: OpenedSecrets;
  readonly metrics: PrometheusMetrics | null;
}

interface OpenApp {
  readonly app: HeadlessApp;
  /** Called once. */
  openHttp(): Promise<App>;
}

export interface ComposeOptions {
  readonly migrate?: boolean;
}

/**
 * Opens storage and files and wires the app; nothing listens or works yet.
 *
 * @param options `migrate` brings the schema up to date first (default true); false refuses an old one
 * @throws {SettingsError} a plugin cannot be loaded or set up, or a setting needs packages that are not installed
 * @throws {SchemaError} the schema is older or newer than this version
 */
export async function compose(
  settings: Settings,
  overrides: Overrides = {},
  options: ComposeOptions = {},
): Promise<App> {
  const { app, openHttp } = await openApp(settings, overrides, options);
  try {
    return await openHttp();
  } catch (error) {
    await app.stop();
    throw error;
  }
}

/** {@link compose} without the HTTP server, whose code is then not loaded. */
export async function composeHeadless(
  settings: Settings,
  overrides: Overrides = {},
  options: ComposeOptions = {},
): Promise<HeadlessApp> {
  return (await openApp(settings, overrides, options)).app;
}

async function openApp(settings: Settings, overrides: Overrides, options: ComposeOptions): Promise<OpenApp> {
  const logger = overrides.logger ?? WinstonLogger.open(settings.logs);
  requirePackages(settings, packageUsers(overrides));
  const plugins = await loadPlugins(settings, overrides.plugins);
  if (overrides.audio === undefined) await prepareDataDir(settings.dataDir, logger);
  const database = await openDatabase({ ...settings.storage, logger });
  let storageClock: StorageClock | null = null;
  let queue: JobQueue | null = null;
  let secrets: OpenedSecrets | null = null;
  try {
    await prepareSchema(database, options.migrate ?? true);
    if (overrides.clock === undefined) {
      storageClock = await StorageClock.start({ readStorageTime: () => database.readTime(), logger });
    }
    const clock = overrides.clock ?? (storageClock as StorageClock);
    const { random = new SystemRandom(), ids = new UlidGenerator(clock, random) } = overrides;
    const audio = overrides.audio ?? (await openAudio(settings, clock));
    const stores = createStores(database, { clock, random });
    secrets = await openSecrets(settings, stores, { clock, logger });
    queue = overrides.queue ?? (await openQueue(settings, logger));
    const metrics = settings.metrics.enabled ? await openMetrics(logger, storageClock) : null;
    const { keyring, keys: secretKeys } = secrets;
    const container = new Container({ defaultScope: "Singleton" });
    container.bind(T.settings).toConstantValue(settings);
    const opened = { ...stores, clock, random, ids, logger, metrics, queue, audio, keyring, secretKeys };
    const storage = { url: settings.storage.url, tablePrefix: database.names.prefix };
    bindPorts(container, opened, overrides, { plugins, storage });
    return createApp(container, settings, { plugins, database, storageClock, secrets, metrics }, overrides);
  } catch (error) {
    await queue?.close();
    await secrets?.keyring.close();
    storageClock?.close();
    await database.close();
    throw error;
  }
}

/** @param container has the settings and every port */
function createApp(container: Container, settings: Settings, opened: Opened, overrides: Overrides): OpenApp {
  const { actor, authenticate } = overrides;
  const { plugins, database, storageClock, secrets, metrics } = opened;
  const { host, port, publicUrl: givenUrl } = settings.http;
  const publicUrl = { current: givenUrl ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}` };
  const ports = portsOf(container);
  container
    .bind(T.core)
    .toResolvedValue(() =>
      createCore(ports, coreOptions(settings, plugins, { actor, publicUrl: () => publicUrl.current })),
    );
  const core = container.get(T.core);
  if (metrics !== null) showPending(metrics, ports);
  const metricsPage = metrics === null ? null : new SharedMetricsPage(metrics);
  const openedLast = [secrets.keyring, ...(storageClock === null ? [] : [storageClock])];
  const appProcess = new AppProcess({ core, ports, settings, plugins, database, metricsPage, publicUrl, openedLast });
  const { api: _api, createWorkers: _createWorkers, library, ...useCases } = core;
  let http: Http | null = null;
  const app: HeadlessApp = {
    ...useCases,
    library: appLibrary(library),
    settings,
    logger: ports.logger,
    clock: ports.clock,
    plugins,
    work: () => appProcess.work(),
    isEmpty: () => ports.accounts.isEmpty(),
    readiness: () => appProcess.readiness(),
    stop: (options) => appProcess.stop(http, options),
  };
  const openHttp = async (): Promise<App> => {
    const { bindHttp } = await import("./bindings/http.js");
    const opened = bindHttp(container, core, ports, settings, {
      publicUrl,
      readiness: () => appProcess.readiness(),
      authenticate,
      ...(metrics === null ? {} : { metrics }),
      // At the port of the API only where the figures have none of their own.
      ...(metricsPage === null || settings.metrics.port !== null ? {} : { metricsPage }),
    });
    http = opened;
    return { ...app, router: opened.router, listen: () => appProcess.listen(opened) };
  };
  return { app, openHttp };
}

function appLibrary({ read, manage, importer, operateUploads }: Core["library"]): AppLibrary {
  return {
    read,
    manage,
    import: (document, folder) => importer.execute(document, folder === undefined ? null : new ImportFolder(folder)),
    upload: (upload) => operateUploads.execute(upload),
  };
}

/** Shows what waits. */
function showPending(metrics: PrometheusMetrics, { webhooks }: CorePorts): void {
  const help = "Webhook deliveries that wait for their first or next try";
  metrics.gauge({ name: "webhook_deliveries_pending", help }, () => webhooks.countPending());
}

/** What no port of the app replaces. */
function packageUsers({ audio, queue, audioAnalyser, plugins = [] }: Overrides): readonly PackageUser[] {
  const given: Partial<Record<PackageUser, boolean>> = {
    audio: audio !== undefined,
    queue: queue !== undefined,
    analyser: audioAnalyser !== undefined,
    synth: plugins.some(({ id }) => id === "synth"),
  };
  return PACKAGE_USERS.filter((user) => given[user] !== true);
}

/** Its library is loaded when there are figures to serve. */
async function openMetrics(logger: Logger, storageClock: StorageClock | null): Promise<PrometheusMetrics> {
  const { PrometheusMetrics } = await import("../adapters/observability/metrics.js");
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
  if (status.state === "foreign") throw new SchemaError(new ForeignTablesError(status.tables).message);
  if (status.state === "current") return;
  if (!migrate)
    throw new SchemaError(`The storage lacks ${status.migrations.join(", ")}. Run \`fermata migrate\` first.`);
  await database.migrate();
}
