import { ActingOperator } from "../adapters/http/admin/acting.js";
import type { AuthenticateRequest } from "../adapters/http/signed-in.js";
import { SharedMetricsPage } from "../adapters/observability/shared-metrics-page.js";
import { WinstonLogger } from "../adapters/observability/winston-logger.js";
import { ImportFolder } from "../adapters/audio/local/import-folder.js";
import { SystemClock } from "../adapters/system/clock.js";
import { UlidGenerator } from "../adapters/system/id-generator.js";
import { SystemRandom } from "../adapters/system/random.js";
import { StorageClock } from "../adapters/system/storage-clock.js";
import { type Core, createCore } from "../core/create-core.js";
import { OperationRefusedError } from "../core/errors.js";
import { TracedLogger } from "../core/tracing/traced-logger.js";
import type { AdapterPort } from "../core/ports/adapter.js";
import type { AudioStore } from "../core/ports/audio-store.js";
import type { CorePorts } from "../core/ports/core-ports.js";
import type { JobQueue } from "../core/ports/job-queue.js";
import type { Logger } from "../core/ports/logger.js";
import type { Metrics } from "../core/ports/metrics.js";
import type { Clock } from "../core/ports/clock.js";
import type { ProviderDefinition } from "../core/ports/music-provider.js";
import type { OpenedStorage } from "../core/ports/opened-storage.js";
import { ADAPTER_PORTS } from "./adapters/definition-issues.js";
import { loadAdapters } from "./adapters/load.js";
import { AppProcess, type Closable } from "./app-process.js";
import type { App, AppLibrary, HeadlessApp } from "./app.js";
import type { AppServers } from "./bindings/http.js";
import { choosePorts, type PortOverrides } from "./bindings/ports.js";
import { coreOptions } from "./core-options.js";
import { prepareDataDir } from "./data-dir.js";
import { PACKAGE_USERS, type PackageUser, requirePackages } from "./optional-packages.js";
import { type LoadedPlugin, loadPlugins } from "./plugins.js";
import { showProcess } from "./gauges.js";
import { openSecrets } from "./secret-keys.js";
import type { Settings } from "./settings.js";
import { makeStudioLink } from "./make-studio-link.js";
import { openTracer } from "./tracing.js";

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
  readonly storage: OpenedStorage;
  readonly storageClock: StorageClock | null;
  readonly openedLast: readonly Closable[];
  readonly metricsPage: SharedMetricsPage | null;
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
 * @throws {SchemaError} the schema is older than this version, or newer and of no use to it
 * @throws {OperationRefusedError} the database that the app gives cannot be used
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
  const { actor, authenticate, plugins: givenPlugins, ...replaced } = overrides;
  if (replaced.stores !== undefined && replaced.database !== undefined)
    throw new OperationRefusedError("compose was given stores and a database; allowed: one of them.");
  const lines = replaced.logger ?? WinstonLogger.open(settings.logs);
  requirePackages(settings, packageUsers(overrides));
  let clock: Clock = replaced.clock ?? new SystemClock();
  const tracing = await openTracer(settings, replaced, { logger: lines, now: () => clock.now() });
  const { tracer } = tracing;
  const logger = tracer === null ? lines : new TracedLogger(lines, tracer);
  const given = { ...replaced, logger, tracer };
  const adapters = await loadAdapters(settings, portsToOpen(given));
  const plugins = await loadPlugins(settings, givenPlugins);
  if (given.audio === undefined) await prepareDataDir(settings.dataDir, logger);
  const machine = clock;
  const random = given.random ?? new SystemRandom();
  const { database } = given;
  const host = { logger, random, clock: machine };
  const openDatabase = async (): Promise<OpenedStorage> => {
    if (database === undefined) return adapters.get("storage").open(host);
    const { openHostStorage } = await import("./adapters/sql-storage.js");
    return openHostStorage(database, host, settings.storage.tablePrefix);
  };
  const storage = await openStorage(openDatabase, given, options.migrate ?? true);
  const { stores } = storage;
  const openedLast: Closable[] = [tracing];
  let queue: JobQueue | null = null;
  let audio: AudioStore | null = null;
  try {
    const storageClock = given.clock === undefined ? await startStorageClock(storage, logger) : null;
    if (storageClock !== null) openedLast.unshift(storageClock);
    clock = storageClock ?? machine;
    const ids = given.ids ?? new UlidGenerator(clock, random);
    audio = given.audio ?? (await adapters.get("audio").open({ logger, clock, random }));
    const secrets = await openSecrets(settings, stores, { clock, logger }, given);
    openedLast.unshift(secrets);
    queue = given.queue ?? (await adapters.get("queue").open({ logger, clock, random }));
    const { metrics, page } = await openMetrics(settings, given, logger);
    const { keyring, keys: secretKeys } = secrets;
    const opened = { ...stores, clock, random, ids, logger, metrics, tracer, queue, audio, keyring, secretKeys };
    const ports = choosePorts(opened, given, { settings, plugins, ...storage });
    return createApp(
      ports,
      settings,
      { plugins, storage, storageClock, openedLast, metricsPage: page },
      { actor, authenticate },
    );
  } catch (error) {
    await queue?.close();
    await audio?.close?.();
    for (const part of openedLast) await part.close();
    await storage.close?.();
    throw error;
  }
}

/** Those that the app gives no adapter for. */
function portsToOpen({ stores, database, queue, audio }: PortOverrides): readonly AdapterPort[] {
  const given = { storage: stores ?? database, queue, audio };
  return ADAPTER_PORTS.filter((port) => given[port] === undefined);
}

/** @throws {SchemaError} its schema is not that of this version, and is not to be or cannot be migrated */
async function openStorage(
  open: () => Promise<OpenedStorage>,
  { stores }: PortOverrides,
  migrate: boolean,
): Promise<OpenedStorage> {
  if (stores !== undefined) return { stores };
  const storage = await open();
  try {
    await (migrate ? storage.schema?.migrate() : storage.schema?.check());
  } catch (error) {
    await storage.close?.();
    throw error;
  }
  return storage;
}

/** @returns null where the storage has no clock: then the machine's counts */
async function startStorageClock({ readTime }: OpenedStorage, logger: Logger): Promise<StorageClock | null> {
  return readTime === undefined ? null : StorageClock.start({ readStorageTime: readTime, logger });
}

function createApp(
  ports: CorePorts,
  settings: Settings,
  opened: Opened,
  { actor, authenticate }: Pick<Overrides, "actor" | "authenticate">,
): OpenApp {
  const { plugins, storage, storageClock, openedLast, metricsPage } = opened;
  const { host, port, publicUrl: givenUrl } = settings.http;
  const publicUrl = { current: givenUrl ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}` };
  const acting = new ActingOperator();
  const options = {
    publicUrl: () => publicUrl.current,
    acting: () => acting.current(),
    ...(actor === undefined ? {} : { actor }),
  };
  const core = createCore(ports, coreOptions(settings, plugins, options));
  const { metrics, tracer } = ports;
  const appProcess = new AppProcess({ core, ports, settings, plugins, storage, metricsPage, publicUrl, openedLast });
  if (metrics !== null) showProcess(metrics, { storageClock, storage, parts: () => appProcess.parts() });
  const { api: _api, createWorkers: _createWorkers, library, ...useCases } = core;
  let servers: AppServers | null = null;
  const app: HeadlessApp = {
    ...useCases,
    library: appLibrary(library),
    settings,
    logger: ports.logger,
    clock: ports.clock,
    plugins,
    work: () => appProcess.work(),
    listenForMetrics: () => appProcess.listenForMetrics(),
    studioLink: (accountId) => makeStudioLink(core, ports, settings, publicUrl, accountId),
    isEmpty: () => ports.accounts.isEmpty(),
    readiness: () => appProcess.readiness(),
    stop: (options) => appProcess.stop(servers, options),
  };
  const openHttp = async (): Promise<App> => {
    const { bindHttp } = await import("./bindings/http.js");
    const opened = bindHttp(core, ports, settings, {
      publicUrl,
      readiness: () => appProcess.readiness(),
      authenticate,
      acting,
      ...(metrics === null ? {} : { metrics }),
      ...(tracer === null ? {} : { tracer }),
      // At the port of the API only where the figures have none of their own.
      ...(metricsPage === null || settings.metrics.port !== null ? {} : { metricsPage }),
    });
    servers = opened;
    return { ...app, router: opened.http.router, listen: () => appProcess.listen(opened) };
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

/** What no port of the app replaces. */
function packageUsers({
  stores,
  database,
  audio,
  queue,
  audioAnalyser,
  metrics,
  tracer,
  plugins = [],
}: Overrides): readonly PackageUser[] {
  const given: Partial<Record<PackageUser, boolean>> = {
    sqlite: stores !== undefined || database !== undefined,
    mysql: stores !== undefined || database !== undefined,
    audio: audio !== undefined,
    queue: queue !== undefined,
    analyser: audioAnalyser !== undefined,
    metrics: metrics !== undefined,
    tracing: tracer !== undefined,
    globalTracing: tracer !== undefined,
    synth: plugins.some(({ id }) => id === "synth"),
  };
  return PACKAGE_USERS.filter((user) => given[user] !== true);
}

/** Figures of the app's own have no page here. The library is loaded when there are figures to serve. */
async function openMetrics(
  { metrics: { enabled } }: Settings,
  { metrics: given }: PortOverrides,
  logger: Logger,
): Promise<{ readonly metrics: Metrics | null; readonly page: SharedMetricsPage | null }> {
  if (given !== undefined || !enabled) return { metrics: given ?? null, page: null };
  const { PrometheusMetrics } = await import("../adapters/observability/metrics.js");
  const metrics = new PrometheusMetrics(logger, { processMetrics: true });
  return { metrics, page: new SharedMetricsPage(metrics) };
}
