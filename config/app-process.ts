import type { MetricsServer } from "../adapters/http/metrics-server.js";
import type { SharedMetricsPage } from "../adapters/observability/shared-metrics-page.js";
import type { Core } from "../core/create-core.js";
import type { StoppedWork } from "../core/execution/work-jobs.js";
import type { WorkingProvider } from "../core/execution/working-provider.js";
import type { CorePorts } from "../core/ports/core-ports.js";
import type { OpenedStorage } from "../core/ports/opened-storage.js";
import type { Workers } from "../core/workers.js";
import type { AppStopOptions, ListeningAt } from "./app.js";
import type { AppServers } from "./bindings/http.js";
import { closeInOrder, closeProviders } from "./close.js";
import { openPluginSandbox } from "./plugin-sandbox.js";
import { type LoadedPlugin, startPlugin } from "./plugins.js";
import { ProviderFetch } from "./provider-fetch.js";
import type { Settings } from "./settings.js";

/** Longer than this, and what follows of a stop, would take longer than a stop may that has nothing to drain. */
const GRACE_MAX_MS = 7_000;

const NOTHING_LEFT: StoppedWork = { abandoned: [], leftToLeases: 0 };

/** Read to see whether a storage responds; it need not be there. */
const ANY_FACT = "readiness";

/** How long a stop takes for what the request log still has to write. */
const LOG_GRACE_MS = 2_000;

export interface AppProcessDeps {
  readonly core: Core;
  readonly ports: CorePorts;
  readonly settings: Settings;
  readonly plugins: readonly LoadedPlugin[];
  readonly storage: OpenedStorage;
  /** null: config wants no figures. */
  readonly metricsPage: SharedMetricsPage | null;
  /** What callers reach the server by; set when it listens and config names no address. */
  readonly publicUrl: { current: string };
  /** Closed after everything else but the storage, in this order. */
  readonly openedLast: readonly Closable[];
}

export interface Closable {
  close(): Promise<unknown> | void;
}

/** What an app does in its process: it listens, works and stops. */
export class AppProcess {
  private readonly providerFetch: ProviderFetch;
  private metricsServer: MetricsServer | null = null;
  private listening: Promise<string | null> | null = null;
  private providers: readonly WorkingProvider[] = [];
  private workers: Workers | null = null;
  private stopping: Promise<void> | null = null;

  constructor(private readonly deps: AppProcessDeps) {
    const { addressGuard, tracer } = deps.ports;
    this.providerFetch = new ProviderFetch(addressGuard, deps.settings.tracing.toProviders ? tracer : null);
  }

  async listen({ http, admin }: AppServers): Promise<ListeningAt> {
    const { ports, plugins, settings, publicUrl } = this.deps;
    await ports.queue.prepare(plugins.filter(({ enabled }) => enabled).map(({ definition }) => definition.id));
    const { url } = await http.listen();
    publicUrl.current = settings.http.publicUrl ?? url;
    const { metricsPage } = this.deps;
    const isShared = metricsPage !== null && settings.metrics.port === null;
    const metricsUrl = isShared ? `${url}/metrics` : await this.listenForMetrics();
    return { url, metricsUrl, adminUrl: await this.listenForAdmin(admin, url) };
  }

  /** @returns where the admin API is; null where there is none */
  private async listenForAdmin(admin: AppServers["admin"], apiUrl: string): Promise<string | null> {
    if (admin === null) return this.deps.settings.admin.token === null ? null : `${apiUrl}/admin/v1`;
    const url = `${(await admin.listen()).url}/admin/v1`;
    this.deps.ports.logger.info("The admin API is served at a port of its own", { url });
    return url;
  }

  /** @returns where the figures are; null where there are none, or they have no port of their own */
  listenForMetrics(): Promise<string | null> {
    this.listening ??= this.openMetricsServer();
    return this.listening;
  }

  private async openMetricsServer(): Promise<string | null> {
    const { settings, metricsPage, ports } = this.deps;
    const { host, port } = settings.metrics;
    if (metricsPage === null || port === null) return null;
    const { MetricsServer } = await import("../adapters/http/metrics-server.js");
    this.metricsServer = await MetricsServer.open(metricsPage, host, port);
    const { url, taken } = this.metricsServer;
    if (taken.length > 0)
      ports.logger.warn("metrics.port is in use by another process; the metrics take the next free port", { taken });
    ports.logger.info("Metrics are served at a port of their own", { url: `${url}/metrics` });
    return `${url}/metrics`;
  }

  async work(): Promise<void> {
    const { core, ports, plugins } = this.deps;
    const { clock, logger, tracer } = ports;
    const providers: WorkingProvider[] = [];
    try {
      for (const plugin of plugins.filter(({ enabled }) => enabled)) {
        const fetch = this.providerFetch.fetchFor(plugin.outgoing);
        providers.push(startPlugin(plugin, { clock, logger, sandbox: openPluginSandbox, fetch }, tracer));
      }
      const workers = core.createWorkers(providers);
      await workers.start();
      this.workers = workers;
      this.providers = providers;
    } catch (error) {
      await closeProviders(providers, logger);
      throw error;
    }
    await this.warnOfStrandedJobs();
  }

  /** The names of the parts that do not work. */
  async readiness(): Promise<string[]> {
    return [...(await this.parts())].flatMap(([name, works]) => (works ? [] : [name]));
  }

  /** Each part that the process needs, and whether it works. */
  async parts(): Promise<ReadonlyMap<string, boolean>> {
    const { storage, ports } = this.deps;
    const { schema, checks: ofStorage = { storage: () => ports.installation.find(ANY_FACT) } } = storage;
    const checks = {
      ...ofStorage,
      ...(schema === undefined ? {} : { migrations: () => schema.check() }),
      queue: () => ports.queue.check(),
    };
    const results = await Promise.allSettled(Object.values(checks).map((check) => check()));
    return new Map(Object.keys(checks).map((name, index) => [name, results[index]?.status === "fulfilled"]));
  }

  /** @param servers null: it has none */
  stop(servers: AppServers | null, options: AppStopOptions = {}): Promise<void> {
    this.stopping ??= this.close(servers, options);
    return this.stopping;
  }

  /**
   * Jobs of a provider that was switched off wait for a process that has it, or for their deadline: better said than
   * found. Never rejects: the workers have started, and a storage that is unavailable for a moment keeps none of them.
   */
  private async warnOfStrandedJobs(): Promise<void> {
    const { jobs, logger } = this.deps.ports;
    const alive = await jobs.countAlive().catch((error: unknown) => {
      logger.warn("Jobs of providers that this process does not work for could not be counted", { error });
      return new Map<string, number>();
    });
    for (const [provider, count] of alive) {
      if (this.providers.some(({ id }) => id === provider)) continue;
      logger.warn(
        "Jobs wait for a provider that this process does not work for; they are refunded when their deadlines are over",
        { provider, jobs: count },
      );
    }
  }

  private async close(servers: AppServers | null, options: AppStopOptions): Promise<void> {
    const { core, ports, settings, openedLast, storage } = this.deps;
    const { shutdownGraceSeconds, drainSeconds } = settings.jobs;
    const graceMs = Math.min(shutdownGraceSeconds * 1000, GRACE_MAX_MS);
    const { workers } = this;
    const stopWorking = async (): Promise<void> => {
      const drainMs = drainSeconds * 1000;
      const stopped = workers === null ? NOTHING_LEFT : await workers.stop(graceMs, { ...options, drainMs });
      options.onStopped?.(stopped);
    };
    const closers: readonly (() => Promise<unknown>)[] = [
      () =>
        Promise.all([
          servers?.http.close(graceMs, options.now),
          servers?.admin?.close(graceMs, options.now),
          this.metricsServer?.close(),
          stopWorking(),
          core.events.stop(graceMs),
        ]),
      () => ports.rateLimiter.close(),
      () => Promise.all([core.api.requests.close(LOG_GRACE_MS), core.api.keyUses.close()]),
      () => ports.webhookSender.close(),
      () => ports.audioAnalyser.close(),
      () => ports.assetOpener.close(),
      () => ports.queue.close(),
      async () => ports.audio.close?.(),
      () => closeProviders(this.providers, ports.logger),
      () => this.providerFetch.close(),
      ...openedLast.map((opened) => async () => opened.close()),
      async () => storage.close?.(),
    ];
    await closeInOrder(closers, ports.logger);
  }
}
