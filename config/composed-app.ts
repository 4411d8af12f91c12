import type { Container } from "inversify";
import { ImportFolder } from "../adapters/audio/local/import-folder.js";
import type { StoredKeyring } from "../adapters/crypto/keyring.js";
import { createHttp, type Http, type HttpParts, MetricsServer } from "../adapters/http/index.js";
import type { PrometheusMetrics } from "../adapters/observability/metrics.js";
import { SharedMetricsPage } from "../adapters/observability/shared-metrics-page.js";
import type { KnexDatabase } from "../adapters/storage/knex/index.js";
import type { StorageClock } from "../adapters/system/storage-clock.js";
import type { ManageAccounts } from "../core/accounts/manage-accounts.js";
import type { ReadAudit } from "../core/audit/read-audit.js";
import { ReportMargin } from "../core/execution/report-margin.js";
import type { ManageCredits } from "../core/credits/manage-credits.js";
import type { AcceptGeneration } from "../core/generations/accept-generation.js";
import { OperateGenerations } from "../core/generations/operate-generations.js";
import type { ReadGenerations } from "../core/generations/read-generations.js";
import type { JobEvents } from "../core/jobs/job-events.js";
import { Leases } from "../core/execution/leases.js";
import type { OperateJobs } from "../core/jobs/operate-jobs.js";
import type { StartSplit } from "../core/generations/start-split.js";
import type { WorkingProvider } from "../core/execution/working-provider.js";
import type { SubmissionSwitch } from "../core/execution/submission-switch.js";
import { type StoppedWork, WorkJobs } from "../core/execution/work-jobs.js";
import type { CollectAudio } from "../core/maintenance/collect-audio.js";
import { OperateAudio } from "../core/maintenance/operate-audio.js";
import type { AudioUrls } from "../core/library/audio-urls.js";
import type { ShareUrls } from "../core/library/share-urls.js";
import type { ListModels } from "../core/providers/list-models.js";
import type { Clock } from "../core/ports/clock.js";
import type { RotateSecrets } from "../core/secrets/rotate-secrets.js";
import type { JobQueue } from "../core/ports/job-queue.js";
import type { Logger } from "../core/ports/logger.js";
import { bindControllers, httpParts } from "./bindings/http.js";
import type { DeliverWebhooks } from "../core/webhooks/deliver-webhooks.js";
import type { ManageEndpoints } from "../core/webhooks/manage-endpoints.js";
import type { OperateWebhooks } from "../core/webhooks/operate-webhooks.js";
import { closeInOrder, closeProviders } from "./close.js";
import { type LoadedPlugin, startPlugin } from "./plugins.js";
import { ProviderFetch } from "./provider-fetch.js";
import type { Settings } from "./settings.js";
import { TOKENS as T } from "./tokens.js";
import { type App, type AppStopOptions, type LibraryParts, SchemaError } from "./app.js";

/** Longer than this, and what follows of a stop, would take longer than a stop may that has nothing to drain. */
const GRACE_MAX_MS = 7_000;

const NOTHING_LEFT: StoppedWork = { abandoned: [], leftToLeases: 0 };

/** How long a stop takes for what the request log still has to write. */
const LOG_GRACE_MS = 2_000;

/** What a process that works runs. */
interface Working {
  readonly jobs: WorkJobs;
  readonly webhooks: DeliverWebhooks;
  readonly providers: readonly WorkingProvider[];
}

/** The storage, its clock unless another one was given, and what follows its secret keys. */
export interface OpenedStorage {
  readonly database: KnexDatabase;
  readonly storageClock: StorageClock | null;
  readonly keyring: StoredKeyring;
}

/** {@link App} over a wired container and an open database. */
export class ComposedApp implements App {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly accounts: ManageAccounts;
  readonly audit: ReadAudit;
  readonly credits: ManageCredits;
  readonly generations: AcceptGeneration;
  readonly operateGenerations: OperateGenerations;
  readonly reads: ReadGenerations;
  readonly jobs: OperateJobs;
  readonly splits: StartSplit;
  readonly submissions: SubmissionSwitch;
  readonly models: ListModels;
  readonly margin: ReportMargin;
  readonly audio: Pick<CollectAudio, "collect">;
  readonly events: JobEvents;
  readonly library: LibraryParts;
  readonly audioUrls: AudioUrls;
  readonly secrets: RotateSecrets;
  readonly shareUrls: ShareUrls;
  readonly webhookEndpoints: ManageEndpoints;
  readonly webhooks: OperateWebhooks;
  readonly router: Http["router"];
  private readonly http: Http;
  private readonly queue: JobQueue;
  private readonly metricsPage: SharedMetricsPage | null;
  private metricsServer: MetricsServer | null = null;
  private readonly providerFetch: ProviderFetch;
  private working: Working | null = null;
  private stopping: Promise<void> | null = null;
  private readonly publicUrl: { current: string };

  constructor(
    readonly settings: Settings,
    private readonly container: Container,
    private readonly opened: OpenedStorage,
    readonly plugins: readonly LoadedPlugin[],
  ) {
    const { host, port, publicUrl } = settings.http;
    this.publicUrl = { current: publicUrl ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}` };
    container.bind(T.publicUrl).toConstantValue(this.publicUrl);
    this.logger = container.get(T.logger);
    this.clock = container.get(T.clock);
    this.queue = container.get(T.queue);
    this.accounts = container.get(T.manageAccounts);
    this.audit = container.get(T.readAudit);
    this.credits = container.get(T.manageCredits);
    this.generations = container.get(T.acceptGeneration);
    this.operateGenerations = new OperateGenerations({
      acceptGeneration: this.generations,
      accounts: this.accounts,
      audit: container.get(T.audit),
    });
    this.reads = container.get(T.readGenerations);
    this.jobs = container.get(T.operateJobs);
    this.splits = container.get(T.startSplit);
    this.submissions = container.get(T.submissions);
    this.models = container.get(T.listModels);
    this.margin = new ReportMargin(container.get(T.jobs));
    this.audio = new OperateAudio(container.get(T.collectAudio), container.get(T.audit));
    this.providerFetch = new ProviderFetch(container.get(T.addressGuard));
    this.events = container.get(T.jobEvents);
    const metrics = container.get(T.metrics).current;
    if (metrics !== null) {
      this.events.onEnded(({ job }) =>
        metrics.countJobEnded({ operation: job.operation, provider: job.providerId, status: job.status }),
      );
    }
    metrics?.gauge(
      { name: "webhook_deliveries_pending", help: "Webhook deliveries that wait for their first or next try" },
      () => container.get(T.webhooks).countPending(),
    );
    this.metricsPage = metrics === null ? null : new SharedMetricsPage(metrics);
    const [importLibrary, uploads] = [container.get(T.importLibrary), container.get(T.operateUploads)];
    this.library = {
      read: container.get(T.readLibrary),
      manage: container.get(T.manageLibrary),
      import: (document, folder) =>
        importLibrary.execute(document, folder === undefined ? null : new ImportFolder(folder)),
      upload: (upload) => uploads.execute(upload),
    };
    this.audioUrls = container.get(T.audioUrls);
    this.secrets = container.get(T.rotateSecrets);
    this.shareUrls = container.get(T.shareUrls);
    this.webhookEndpoints = container.get(T.manageEndpoints);
    this.webhooks = container.get(T.operateWebhooks);
    const parts = httpParts(container, this.figures(metrics), () => this.readiness());
    container.bind(T.httpParts).toConstantValue(parts);
    bindControllers(container);
    this.http = createHttp(parts);
    this.router = this.http.router;
  }

  /** What counts requests, and where the figures are served at the port of the API the page of them. */
  private figures(metrics: PrometheusMetrics | null): Pick<HttpParts, "metrics" | "metricsPage"> {
    if (metrics === null || this.metricsPage === null) return {};
    return this.settings.metrics.port === null ? { metrics, metricsPage: this.metricsPage } : { metrics };
  }

  async listen(): Promise<{ readonly url: string; readonly metricsUrl: string | null }> {
    await this.queue.prepare(this.plugins.filter(({ enabled }) => enabled).map(({ definition }) => definition.id));
    const { url } = await this.http.listen();
    this.publicUrl.current = this.settings.http.publicUrl ?? url;
    return { url, metricsUrl: await this.listenForMetrics(url) };
  }

  async work(): Promise<void> {
    const { clock, logger, providerFetch, container } = this;
    const sandbox = container.get(T.openSandbox);
    const providers: WorkingProvider[] = [];
    try {
      for (const plugin of this.plugins)
        if (plugin.enabled)
          providers.push(
            startPlugin(plugin, { clock, logger, sandbox, fetch: providerFetch.fetchFor(plugin.outgoing) }),
          );
      const jobs = this.jobWorkers(providers);
      await jobs.start();
      const webhooks = container.get(T.deliverWebhooks);
      this.events.onEnded(() => webhooks.wake());
      webhooks.start();
      this.working = { jobs, webhooks, providers };
    } catch (error) {
      await closeProviders(providers, logger);
      throw error;
    }
    await this.warnOfStrandedJobs(providers);
  }

  private jobWorkers(providers: readonly WorkingProvider[]): WorkJobs {
    const { settings, container, clock, logger } = this;
    const [owner, leaseMs] = [container.get(T.ids).next("prc"), settings.jobs.leaseSeconds * 1000];
    return new WorkJobs(providers, {
      jobs: container.get(T.jobs),
      leases: new Leases(owner, leaseMs, container.get(T.leaseRenewal)(owner, leaseMs), logger),
      runJob: container.get(T.runJob),
      cancelUpstream: container.get(T.cancelUpstream),
      hasStandIns: (providerId) => container.get(T.routes).hasStandIns(providerId),
      availability: container.get(T.availability),
      submissions: this.submissions,
      clock,
      logger,
      sweepMs: settings.jobs.sweepMs,
      queue: this.queue,
      maintenance: container.get(T.maintenance),
    });
  }

  /**
   * Jobs of a provider that was switched off wait for a process that has it, or for their deadline: better said than
   * found.
   */
  private async warnOfStrandedJobs(providers: readonly WorkingProvider[]): Promise<void> {
    const alive = await this.container.get(T.jobs).countAlive();
    for (const [provider, jobs] of alive) {
      if (providers.some(({ id }) => id === provider)) continue;
      this.logger.warn(
        "Jobs wait for a provider that this process does not work for; they are refunded when their deadlines are over",
        { provider, jobs },
      );
    }
  }

  /** @returns where the figures are, null where there are none */
  private async listenForMetrics(apiUrl: string): Promise<string | null> {
    const { host, port } = this.settings.metrics;
    if (this.metricsPage === null) return null;
    if (port === null) return `${apiUrl}/metrics`;
    this.metricsServer = await MetricsServer.open(this.metricsPage, host, port);
    const url = `${this.metricsServer.url}/metrics`;
    this.logger.info("Metrics are served at a port of their own", { url });
    return url;
  }

  isEmpty(): Promise<boolean> {
    return this.container.get(T.accounts).isEmpty();
  }

  async readiness(): Promise<string[]> {
    const checks: Readonly<Record<string, () => Promise<unknown>>> = {
      storage: () => this.opened.database.check(),
      migrations: async () => {
        const status = await this.opened.database.schemaStatus();
        if (status.state !== "current") throw new SchemaError(`The schema is ${status.state}.`);
      },
      queue: () => this.queue.check(),
    };
    const results = await Promise.allSettled(Object.values(checks).map((check) => check()));
    return Object.keys(checks).filter((_, index) => results[index]?.status === "rejected");
  }

  stop(options: AppStopOptions = {}): Promise<void> {
    this.stopping ??= this.close(options);
    return this.stopping;
  }

  private async close(options: AppStopOptions): Promise<void> {
    const { shutdownGraceSeconds, drainSeconds } = this.settings.jobs;
    const graceMs = Math.min(shutdownGraceSeconds * 1000, GRACE_MAX_MS);
    const { now } = options;
    const { working } = this;
    const stopWorking = async (): Promise<void> => {
      if (working === null) return options.onStopped?.(NOTHING_LEFT);
      const { jobs, webhooks } = working;
      const drainMs = drainSeconds * 1000;
      const jobsStopped = jobs.stop(graceMs, { ...options, drainMs });
      // Deliveries go on for as long as a drain takes.
      const drained = drainMs > graceMs ? jobs.drained() : Promise.resolve();
      const [stopped] = await Promise.all([jobsStopped, drained.then(() => webhooks.stop(graceMs, now))]);
      options.onStopped?.(stopped);
    };
    const closers: readonly (() => Promise<unknown>)[] = [
      () => Promise.all([this.http.close(graceMs, now), this.metricsServer?.close(), stopWorking()]),
      () => this.container.get(T.rateLimiter).close(),
      () => this.container.get(T.recordRequests).close(LOG_GRACE_MS),
      () => this.container.get(T.webhookSender).close(),
      () => this.container.get(T.audioAnalyser).close(),
      () => this.container.get(T.assetOpener).close(),
      () => this.queue.close(),
      () => closeProviders(working?.providers ?? [], this.logger),
      () => this.providerFetch.close(),
      () => this.opened.keyring.close(),
      async () => this.opened.storageClock?.close(),
      () => this.opened.database.close(),
    ];
    await closeInOrder(closers, this.logger);
  }
}
