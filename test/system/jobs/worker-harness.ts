import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { LocalAudioStore } from "../../../adapters/audio/local/audio-store.js";
import { NodeDigest } from "../../../adapters/crypto/digest.js";
import { type AssetOpenerDeps, GuardedAssetOpener } from "../../../adapters/downloads/asset-opener.js";
import { PrometheusMetrics } from "../../../adapters/observability/metrics.js";
import { MemoryJobQueue } from "../../../adapters/queue/memory/job-queue.js";
import type { Stores } from "../../../adapters/storage/sql/index.js";
import { createAccounts } from "../../../core/accounts/create-accounts.js";
import { createExecution, type ExecutionOptions } from "../../../core/execution/create-execution.js";
import { createGenerations } from "../../../core/generations/create-generations.js";
import { createJobs } from "../../../core/jobs/create-jobs.js";
import { createMaintenance } from "../../../core/maintenance/create-maintenance.js";
import type { CatalogueProvider } from "../../../core/providers/catalogue.js";
import { createProviders } from "../../../core/providers/create-providers.js";
import { corePorts } from "../../support/core-ports.js";
import { Tiers } from "../../../core/accounts/tiers.js";
import { CallbackUrls } from "../../../core/providers/callback-urls.js";
import type { LedgerEntry } from "../../../core/credits/balance.js";
import type { AccountId, JobId } from "../../../core/ids.js";
import type { Maintenance } from "../../../core/maintenance/maintenance.js";
import type { JobEnded } from "../../../core/jobs/ended-jobs.js";
import type { Job, JobAttempt, JobRequest } from "../../../core/jobs/job.js";
import { ReadTimelines } from "../../../core/jobs/read-timelines.js";
import { OperateJobs } from "../../../core/jobs/operate-jobs.js";
import type { ProviderAvailability } from "../../../core/providers/provider-availability.js";
import { pollOf } from "../../../core/execution/poll-together.js";
import type { RoutePreferences } from "../../../core/providers/routes.js";
import type { ApplyReports } from "../../../core/attempts/apply-reports.js";
import type { StartSplit } from "../../../core/generations/start-split.js";
import type { WorkingProvider } from "../../../core/execution/working-provider.js";
import type { DeriveAssets } from "../../../core/library/derive-assets.js";
import type { SubmissionState, SubmissionSwitch } from "../../../core/execution/submission-switch.js";
import type { StopOptions, StoppedWork, WorkJobs } from "../../../core/execution/work-jobs.js";
import { AudioUrls } from "../../../core/library/audio-urls.js";
import type { AssetOpener } from "../../../core/ports/asset-opener.js";
import type {
  MusicProvider,
  ProviderCapabilities,
  ProviderCost,
  ProviderModel,
} from "../../../core/ports/music-provider.js";
import { aJob, aJobRequest, NO_UPLOADS, RETENTION } from "../../support/builders.js";
import { type SqliteUnderTest, sqliteStorage, temporaryFolder } from "../../support/databases.js";
import { eventsOf } from "../../support/webhook-events.js";
import { unrecorded } from "../../../core/audit/unrecorded.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import { ManualRandom } from "../../support/doubles/manual-random.js";
import { RecordingLogger } from "../../support/doubles/recording-logger.js";
import { ScriptedProvider } from "../../support/doubles/scripted-provider.js";
import { FixedKeyring } from "../../support/doubles/fixed-keyring.js";
import { until } from "../../support/until.js";

export { until };

/** The steps in which time advances: so short that no sleeper misses a relevant moment. */
const STEP_MS = 250;

export const LEASE_MS = 30_000;
export const GRACE_MS = 120_000;
export const CALL_LIMIT_MS = 90_000;
export const COST = 10;
/** Of webhooks, which no worker here delivers. */
const SCHEDULE_MS = [60_000];
/** Monthly credits for half a job, and packs for all the rest: the first job uses both. */
const CREDITS = { monthly: 5, pack: 10_000 };

export const NO_CAPABILITIES: ProviderCapabilities = { idempotentSubmit: false, lookup: false, cancel: false };

const ROUTES: RoutePreferences = {
  fallbacks: { "scripted/song": ["fallback/song"] },
  splits: { stem_split: ["scripted", "fallback"], vocal_removal: ["scripted", "fallback"] },
};
const PLENTY = { perMinute: 1_000, perDay: 1_000 };
const RATES = { read: PLENTY, generation: PLENTY, write: PLENTY };
const TIERS = new Tiers([
  { name: "pro", maxConcurrent: 1_000, monthlyCredits: 0, rateLimits: RATES, uploads: NO_UPLOADS },
]);

export interface WorkerOptions {
  readonly capabilities?: Partial<ProviderCapabilities>;
  readonly concurrency?: number;
  readonly maxInFlight?: number;
  readonly maxAttempts?: number;
  /** `jobs.submissions`; active by default. */
  readonly submissions?: SubmissionState;
  /** Of the queue, and of renders unless they have their own. */
  readonly deadlineMs?: number;
  readonly renderDeadlineMs?: number;
  /** The model's own render deadline. */
  readonly modelRenderDeadlineMinutes?: number;
  /** The hard limit of a call. */
  readonly callLimitMs?: number;
  readonly breakerFailures?: number;
  readonly maxBytes?: number;
  readonly provider?: MusicProvider;
  /** Starts the fallback as well, with the same capabilities: models of `scripted` use it, and so do splits. */
  readonly withFallback?: boolean;
  /** Changes models as an operator may configure them. */
  readonly changeModel?: (model: ProviderModel) => ProviderModel;
  /** Opens the files of a provider; without it no URL can be opened. */
  readonly opener?: AssetOpener;
  /** The expected cost of each submission. */
  readonly expectedCost?: ProviderCost;
  /** The worker's own clock; the harness's by default. A clock that no test moves stands for a process that hangs. */
  readonly clock?: ManualClock;
  /** What the worker uses in place of the harness's stores. */
  readonly stores?: Partial<Stores>;
}

/** One process that works on jobs, wired as `config/app.ts` does it. */
export interface Worker {
  readonly jobs: WorkJobs;
  readonly leases: WorkJobs["leases"];
  readonly clock: ManualClock;
  readonly availability: ProviderAvailability;
  readonly applyReports: ApplyReports;
  readonly operate: OperateJobs;
  readonly splits: StartSplit;
  readonly submissions: SubmissionSwitch;
  readonly maintenance: Maintenance;
  /** Provider calls that have not returned. */
  calls(): number;
  /** Sleepers while it is idle: a loop for each provider and each maintenance task, without the lease renewal. */
  readonly loops: number;
  /** Stops, advancing time until it has. */
  stop(graceMs?: number, options?: StopOptions): Promise<StoppedWork>;
}

/** Real storage and files, a manual clock and a scripted provider. */
export class WorkerHarness {
  readonly clock = new ManualClock();
  readonly random = new ManualRandom();
  readonly logger = new RecordingLogger();
  readonly provider = new ScriptedProvider();
  readonly fallback = new ScriptedProvider("fallback");
  readonly callbackUrls = new CallbackUrls({
    digest: new NodeDigest(),
    keyring: new FixedKeyring(),
    publicUrl: "https://fermata.test",
  });
  readonly audioUrls = new AudioUrls({
    digest: new NodeDigest(),
    clock: this.clock,
    keyring: new FixedKeyring(),
    library: { linkGeneration: () => Promise.resolve(null) },
    erasures: { isNotedFile: () => Promise.resolve(false) },
    publicUrl: () => "https://fermata.test",
    ttlMs: 60_000,
  });
  readonly queue = new MemoryJobQueue(this.logger);
  readonly metrics = new PrometheusMetrics(this.logger, { processMetrics: false });
  readonly ended: JobEnded[] = [];
  /** The assets derived from a track: none by default. */
  derive: DeriveAssets["deriveFor"] = (track) => Promise.resolve(track);
  /** Whether files are decoded for it. */
  decodes = true;
  private readonly workers: Worker[] = [];

  private constructor(
    readonly storage: SqliteUnderTest,
    readonly audio: LocalAudioStore,
    private readonly folder: string,
    readonly accountId: AccountId,
  ) {}

  static async open(opened?: SqliteUnderTest): Promise<WorkerHarness> {
    const storage = opened ?? (await sqliteStorage.open());
    const folder = await temporaryFolder();
    const account = await storage.addAccount({}, CREDITS);
    return new WorkerHarness(storage, await LocalAudioStore.open(folder), folder, account.id);
  }

  /** Checks that the ledger is exact, stops running workers and deletes files. */
  async close(): Promise<void> {
    for (const worker of [...this.workers]) await worker.stop(0);
    const audit = await this.storage.ledger.audit();
    await this.queue.close();
    await this.storage.close();
    // Aborted work may still be closing its file.
    await rm(this.folder, { recursive: true, maxRetries: 5 });
    expect(audit.violations).to.deep.equal([]);
  }

  /** Accepts jobs of ten credits, as a request would. */
  async accept(count = 1, modelId = "scripted/song", given: Partial<JobRequest> = {}): Promise<Job[]> {
    const { acceptJobs } = createJobs(corePorts(this.storage, this), eventsOf(this.storage));
    const results = await Promise.all(
      Array.from({ length: count }, () => {
        const now = this.clock.now();
        const served = { providerId: "scripted", modelId, servedModelId: modelId };
        const request = aJobRequest(given);
        const noCredits = { reserved: { monthly: 0, pack: 0 }, creditsCharged: 0 };
        const job = aJob({ ...served, ...noCredits, accountId: this.accountId, createdAt: now, request });
        return acceptJobs.accept({ job, cost: COST, concurrencyLimit: 1_000, idempotency: null, refusal: null });
      }),
    );
    return results.map((result) => {
      if (result.kind !== "accepted") throw new Error("The jobs of the harness are accepted.");
      return result.job;
    });
  }

  async acceptOne(modelId?: string, given: Partial<JobRequest> = {}): Promise<JobId> {
    const [job] = await this.accept(1, modelId, given);
    return (job as Job).id;
  }

  /** A worker that has not started. */
  prepare(options: WorkerOptions = {}): Worker {
    const { logger, random, queue, metrics, audio } = this;
    const clock = options.clock ?? this.clock;
    const stores = { ...this.storage, ...options.stores };
    const assetOpener = options.opener ?? new GuardedAssetOpener({ connect: noConnection, clock, version: "0.0.0" });
    const ports = corePorts(stores, { clock, random, logger, queue, metrics, audio, assetOpener });
    const audit = unrecorded(stores.unitOfWork);
    const capabilities = { ...NO_CAPABILITIES, ...options.capabilities };
    const queueDeadlineMs = options.deadlineMs ?? 86_400_000;
    const providers = createProviders({
      ports,
      providers: this.catalogue(options, capabilities),
      routes: ROUTES,
      breaker: { failures: options.breakerFailures ?? 1_000, openMs: 30_000 },
      queueDeadlineMs,
      reachableUrl: "https://fermata.test",
    });
    const jobs = createJobs(ports, eventsOf(stores));
    jobs.endedJobs.onEnded((ended) => this.ended.push(ended));
    const execution = createExecution({
      ports,
      options: executionOptions(options, queueDeadlineMs),
      maxBytes: options.maxBytes ?? 1_000_000,
      audit,
      settleJobs: jobs.settleJobs,
      providers,
      audioUrls: this.audioUrls,
      derived: { decodes: this.decodes, deriveFor: (track, signal) => this.derive(track, signal) },
    });
    const { applyReports, endJobs, submissions } = execution;
    const scheduled = {
      endJobs,
      queueDeadlineMs,
      retention: RETENTION,
      scheduleMs: SCHEDULE_MS,
      ledgerFullCheckMs: 86_400_000,
      everyMs: 5_000,
      others: [],
    };
    const { maintenance } = createMaintenance({ ports, audit, ...scheduled });
    const { working, calls } = this.workingProviders(options, capabilities, clock);
    const workJobs = execution.createWorkers(working, maintenance);
    const { accounts } = createAccounts({ ports, audit, tiers: TIERS });
    const costs = { idempotencyTtlMs: 86_400_000, splitCosts: { stem_split: COST, vocal_removal: COST } };
    const timelines = new ReadTimelines({ ...ports, outlooks: providers.outlooks });
    const { splits, generations, waitForJob } = createGenerations({
      ports,
      audit,
      accounts,
      tiers: TIERS,
      jobs,
      providers,
      timelines,
      followedMax: 20,
      ...costs,
    });
    return {
      jobs: workJobs,
      leases: workJobs.leases,
      clock,
      availability: providers.availability,
      applyReports,
      operate: new OperateJobs({ ...ports, generations, waitForJob, endJobs, audit, timelines }),
      splits,
      submissions,
      maintenance,
      calls,
      loops: maintenance.tasks.length + working.length,
      stop: async (graceMs = 0, stopOptions = {}) => {
        this.workers.splice(
          this.workers.findIndex((worker) => worker.jobs === workJobs),
          1,
        );
        return this.passUntilDone(workJobs.stop(graceMs, stopOptions), clock);
      },
    };
  }

  private scripted({ withFallback }: WorkerOptions): readonly ScriptedProvider[] {
    return [this.provider, ...(withFallback === true ? [this.fallback] : [])];
  }

  private catalogue(options: WorkerOptions, capabilities: ProviderCapabilities): CatalogueProvider[] {
    const priced = options.expectedCost === undefined ? {} : { upstreamCost: options.expectedCost };
    const { modelRenderDeadlineMinutes: renderDeadlineMinutes } = options;
    const ownDeadline = renderDeadlineMinutes === undefined ? {} : { renderDeadlineMinutes };
    return this.scripted(options).map(({ definition: { id, label, models } }) => ({
      ...capabilities,
      id,
      label,
      models: models.map((model) => ({ ...(options.changeModel?.(model) ?? model), ...priced, ...ownDeadline })),
      enabled: true,
      isReachable: true,
    }));
  }

  private workingProviders(
    options: WorkerOptions,
    capabilities: ProviderCapabilities,
    clock: ManualClock,
  ): { readonly working: readonly WorkingProvider[]; readonly calls: () => number } {
    const counts: (() => number)[] = [];
    const working = this.scripted(options).map((scripted): WorkingProvider => {
      const counted = countCalls(scripted === this.provider ? (options.provider ?? scripted) : scripted);
      counts.push(counted.calls);
      return {
        id: scripted.definition.id,
        label: scripted.definition.label,
        concurrency: options.concurrency ?? 8,
        maxInFlight: options.maxInFlight ?? null,
        capabilities,
        callLimitMs: options.callLimitMs ?? CALL_LIMIT_MS,
        provider: counted.provider,
        poll: pollOf(counted.provider, clock, null),
      };
    });
    return { working, calls: () => counts.reduce((sum, calls) => sum + calls(), 0) };
  }

  /** A running worker. */
  async start(options: WorkerOptions = {}): Promise<Worker> {
    const worker = this.prepare(options);
    await worker.jobs.start();
    this.workers.push(worker);
    return worker;
  }

  /** Resolves when every worker sleeps or waits for its provider. */
  async quiet(): Promise<void> {
    await until("the workers are quiet", () => {
      const clocks = new Map<ManualClock, { loops: number; held: number }>();
      for (const { clock, leases, loops } of this.workers) {
        const sum = clocks.get(clock) ?? { loops: 0, held: 0 };
        const heartbeats = leases.kept.length > 0 ? 1 : 0;
        clocks.set(clock, { loops: sum.loops + loops + heartbeats, held: sum.held + leases.count });
      }
      // A report that waits for its turn sleeps as well.
      if (this.workers.some(({ applyReports }) => applyReports.isWriting)) return false;
      // A running job sleeps, or waits for its provider, whose call has a limit; anything else is in progress.
      return [...clocks].every(([clock, { loops, held }]) => clock.sleeping - loops >= held);
    });
  }

  /** Advances time for every user of this clock. */
  async pass(ms: number, clock = this.clock): Promise<void> {
    await this.quiet();
    for (let left = ms; left > 0; left -= STEP_MS) {
      await clock.advance(Math.min(left, STEP_MS));
      await this.quiet();
    }
  }

  private async passUntilDone<T>(promise: Promise<T>, clock: ManualClock): Promise<T> {
    let isDone = false;
    const done = promise.finally(() => (isDone = true));
    await until("the worker has stopped", async () => {
      if (!isDone) await clock.advance(10);
      return isDone;
    });
    return done;
  }

  async job(id: JobId): Promise<Job> {
    const job = (await this.storage.jobs.findJobs([id])).get(id);
    if (job === undefined) throw new Error(`There is no job ${id}.`);
    return job;
  }

  /** A job's attempts, as `[number, outcome]`. */
  async attempts(id: JobId): Promise<(readonly [number: number, outcome: JobAttempt["outcome"]])[]> {
    return (await this.storage.jobs.listAttempts(id)).map(({ number, outcome }) => [number, outcome] as const);
  }

  async entries(id: JobId): Promise<LedgerEntry["kind"][]> {
    return (await this.storage.ledger.entriesOfJob(id)).map(({ kind }) => kind);
  }

  /** The stored files, `job/fence/name`. */
  async files(): Promise<string[]> {
    const entries = await readdir(this.folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.folder.length + 1))
      .sort();
  }

  /** Asserts that the job was charged once, completed and left its tracks. */
  async expectCompleted(id: JobId): Promise<Job> {
    const job = await this.job(id);
    expect(job).to.include({
      status: "completed",
      phase: "ended",
      leaseOwner: null,
      dueAt: null,
      error: null,
      creditsCharged: COST,
    });
    expect(await this.entries(id)).to.deep.equal(["reserve", "charge"]);
    const tracks = (await this.storage.library.tracksOfJobs([id])).get(id) ?? [];
    expect(tracks).to.have.length(1);
    const keys = tracks.flatMap(({ assets }) => assets.map(({ audioKey }) => audioKey));
    expect((await this.files()).filter((file) => file.startsWith(`${id}/`))).to.deep.equal(keys.sort());
    expect(this.ended.filter(({ job: { id: ended } }) => ended === id)).to.have.length(1);
    return job;
  }

  /** Asserts that the job was refunded once and left nothing. */
  async expectFailed(id: JobId, code: string): Promise<Job> {
    const job = await this.job(id);
    expect(job).to.include({ status: "failed", phase: "ended", leaseOwner: null, dueAt: null, creditsCharged: 0 });
    expect(job.error?.code).to.equal(code);
    expect(await this.entries(id)).to.deep.equal(["reserve", "refund"]);
    expect((await this.storage.library.tracksOfJobs([id])).size).to.equal(0);
    expect((await this.files()).filter((file) => file.startsWith(`${id}/`))).to.deep.equal([]);
    expect(this.ended.filter(({ job: { id: ended } }) => ended === id)).to.have.length(1);
    return job;
  }
}

function executionOptions(options: WorkerOptions, queueDeadlineMs: number): ExecutionOptions {
  return {
    retry: { maxAttempts: options.maxAttempts ?? 3, backoffMs: 1_000 },
    queueDeadlineMs,
    renderDeadlineMs: options.renderDeadlineMs ?? queueDeadlineMs,
    unknownGraceMs: GRACE_MS,
    confirmMs: 60_000,
    leaseMs: LEASE_MS,
    sweepMs: 1_000,
    submissions: options.submissions ?? "active",
  };
}

/** Scripted files are delivered as bytes. */
const noConnection: AssetOpenerDeps["connect"] = (_options, callback) =>
  callback(new Error("The harness fetches nothing."), null);

function countCalls(provider: MusicProvider): { readonly provider: MusicProvider; calls(): number } {
  let calls = 0;
  const counting = async <T>(call: Promise<T>): Promise<T> => {
    calls++;
    try {
      return await call;
    } finally {
      calls--;
    }
  };
  const { poll, pollMany, lookup, cancel, parseCallback } = provider;
  const counted: MusicProvider = {
    submit: (request, context) => counting(provider.submit(request, context)),
    ...(poll && { poll: (handle, context) => counting(poll.call(provider, handle, context)) }),
    ...(pollMany && { pollMany: (handles, context) => counting(pollMany.call(provider, handles, context)) }),
    ...(cancel && { cancel: (handle, context) => counting(cancel.call(provider, handle, context)) }),
    ...(parseCallback && {
      parseCallback: (callback, context) => counting(parseCallback.call(provider, callback, context)),
    }),
    ...(lookup && { lookup: (attemptId, context) => counting(lookup.call(provider, attemptId, context)) }),
  };
  return { provider: counted, calls: () => calls };
}
