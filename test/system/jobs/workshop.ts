import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { LocalAudioStore } from "../../../adapters/audio/local/audio-store.js";
import { NodeDigest } from "../../../adapters/crypto/digest.js";
import { type AssetOpenerParts, GuardedAssetOpener } from "../../../adapters/downloads/asset-opener.js";
import { PrometheusMetrics } from "../../../adapters/observability/metrics.js";
import { MemoryJobQueue } from "../../../adapters/queue/memory/job-queue.js";
import type { Stores } from "../../../adapters/storage/knex/index.js";
import { Tiers } from "../../../core/accounts/tiers.js";
import { CallbackUrls } from "../../../core/providers/callback-urls.js";
import type { LedgerEntry } from "../../../core/credits/balance.js";
import type { AccountId, JobId } from "../../../core/ids.js";
import { AcceptJobs } from "../../../core/jobs/accept-jobs.js";
import { BuildRequest } from "../../../core/execution/build-request.js";
import { CancelUpstream } from "../../../core/execution/cancel-upstream.js";
import { CollectAudio } from "../../../core/maintenance/collect-audio.js";
import { Maintenance } from "../../../core/maintenance/maintenance.js";
import { maintenanceTasks } from "../../../core/maintenance/tasks.js";
import { type JobEnded, JobEvents } from "../../../core/jobs/job-events.js";
import type { Job, JobAttempt, JobRequest } from "../../../core/jobs/job.js";
import { ClockLeaseRenewal } from "../../../core/execution/clock-lease-renewal.js";
import { Leases } from "../../../core/execution/leases.js";
import { OperateJobs } from "../../../core/jobs/operate-jobs.js";
import { ProviderAvailability } from "../../../core/providers/provider-availability.js";
import { pollOf } from "../../../core/execution/poll-together.js";
import { type RoutePreferences, Routes } from "../../../core/providers/routes.js";
import { ApplyReports } from "../../../core/execution/apply-reports.js";
import { EndJobs } from "../../../core/execution/end-jobs.js";
import { Policies } from "../../../core/execution/policies.js";
import { RenderTimes } from "../../../core/providers/render-times.js";
import { RunJob } from "../../../core/execution/run-job.js";
import { StoreFiles } from "../../../core/execution/store-files.js";
import { StartSplit } from "../../../core/generations/start-split.js";
import { StoreAsset } from "../../../core/execution/store-asset.js";
import type { WorkingProvider } from "../../../core/execution/working-provider.js";
import { SettleJobs } from "../../../core/jobs/settle-jobs.js";
import type { DeriveAssets } from "../../../core/library/derive-assets.js";
import { StoreTracks } from "../../../core/execution/store-tracks.js";
import { type SubmissionState, SubmissionSwitch } from "../../../core/execution/submission-switch.js";
import { type StopOptions, type StoppedWork, WorkJobs } from "../../../core/execution/work-jobs.js";
import { AudioUrls } from "../../../core/library/audio-urls.js";
import { Catalogue } from "../../../core/providers/catalogue.js";
import type { AssetOpener } from "../../../core/ports/asset-opener.js";
import type {
  MusicProvider,
  ProviderCapabilities,
  ProviderCost,
  ProviderModel,
} from "../../../core/ports/music-provider.js";
import { aJob, aJobRequest, anId, NO_UPLOADS } from "../../support/builders.js";
import { type SqliteUnderTest, sqliteStorage, temporaryFolder } from "../../support/databases.js";
import { eventsOf } from "../../support/webhook-events.js";
import { unrecorded } from "../../support/doubles/unrecorded-actions.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import { ManualRandom } from "../../support/doubles/manual-random.js";
import { RecordingLogger } from "../../support/doubles/recording-logger.js";
import { ScriptedProvider } from "../../support/doubles/scripted-provider.js";
import { FixedKeyring } from "../../support/doubles/fixed-keyring.js";

/** Real time that anything may take before a test gives up. */
const PATIENCE_MS = 8_000;
/** The steps in which time passes: short enough that nobody sleeps through a moment that matters. */
const STEP_MS = 250;

export const LEASE_MS = 30_000;
export const GRACE_MS = 120_000;
export const CALL_LIMIT_MS = 90_000;
export const COST = 10;
export const EVENTS_KEPT_MS = 30 * 86_400_000;
/** Monthly credits for half a job, and packs for all the rest: the first job draws on both. */
const CREDITS = { monthly: 5, pack: 10_000 };

export const NO_POWERS: ProviderCapabilities = { idempotentSubmit: false, lookup: false, cancel: false };

const ROUTES: RoutePreferences = {
  standIns: { "scripted/song": ["stand-in/song"] },
  splits: { stem_split: ["scripted", "stand-in"], vocal_removal: ["scripted", "stand-in"] },
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
  /** That each model has of its own. */
  readonly modelRenderDeadlineMinutes?: number;
  /** The hard limit of a call. */
  readonly callLimitMs?: number;
  readonly breakerFailures?: number;
  readonly maxBytes?: number;
  readonly provider?: MusicProvider;
  /** Works for the stand-in as well, with the same powers: models of `scripted` go to it, and so do splits. */
  readonly withStandIn?: boolean;
  /** Models as an operator changed them. */
  readonly changeModel?: (model: ProviderModel) => ProviderModel;
  /** What gets at the files of a provider; without it nothing behind a URL. */
  readonly opener?: AssetOpener;
  /** What each piece of work is expected to cost. */
  readonly expectedCost?: ProviderCost;
  /** The worker's own time; the workshop's by default. One that nobody moves is a process that hangs. */
  readonly clock?: ManualClock;
  /** What the worker uses in place of the workshop's stores. */
  readonly stores?: Partial<Stores>;
}

/** One process that works on jobs, wired as `config/app.ts` does it. */
export interface Worker {
  readonly jobs: WorkJobs;
  readonly leases: Leases;
  readonly clock: ManualClock;
  readonly availability: ProviderAvailability;
  readonly applyReports: ApplyReports;
  readonly operate: OperateJobs;
  readonly splits: StartSplit;
  readonly submissions: SubmissionSwitch;
  readonly maintenance: Maintenance;
  /** Calls of providers that have not come back. */
  calls(): number;
  /**
   * Sleepers while it is idle: a loop for each provider and each task of the maintenance, without the lease renewal.
   */
  readonly loops: number;
  /** Stops, moving time on until it has. */
  stop(graceMs?: number, options?: StopOptions): Promise<StoppedWork>;
}

/** Real storage, real files, and time and a provider that do what a test says. */
export class Workshop {
  readonly clock = new ManualClock();
  readonly random = new ManualRandom();
  readonly logger = new RecordingLogger();
  readonly provider = new ScriptedProvider();
  readonly standIn = new ScriptedProvider("stand-in");
  readonly callbackUrls = new CallbackUrls(new NodeDigest(), new FixedKeyring(), "https://fermata.test");
  readonly audioUrls = new AudioUrls({
    digest: new NodeDigest(),
    clock: this.clock,
    keyring: new FixedKeyring(),
    library: { linkGeneration: () => Promise.resolve(null) },
    publicUrl: () => "https://fermata.test",
    ttlMs: 60_000,
  });
  readonly queue = new MemoryJobQueue(this.logger);
  readonly metrics = new PrometheusMetrics(this.logger, { processMetrics: false });
  readonly events = new JobEvents(this.logger);
  readonly ended: JobEnded[] = [];
  /** What is derived from a track: nothing, unless a test says otherwise. */
  derive: DeriveAssets["deriveFor"] = (track) => Promise.resolve(track);
  private readonly workers: Worker[] = [];

  private constructor(
    readonly storage: SqliteUnderTest,
    readonly audio: LocalAudioStore,
    private readonly folder: string,
    readonly accountId: AccountId,
  ) {
    this.events.onEnded((ended) => this.ended.push(ended));
  }

  static async open(opened?: SqliteUnderTest): Promise<Workshop> {
    const storage = opened ?? (await sqliteStorage.open());
    const folder = await temporaryFolder();
    const account = await storage.addAccount({}, CREDITS);
    return new Workshop(storage, await LocalAudioStore.open(folder), folder, account.id);
  }

  /** Checks that the ledger adds up, stops what still works and clears away. */
  async close(): Promise<void> {
    for (const worker of [...this.workers]) await worker.stop(0);
    const audit = await this.storage.ledger.audit();
    await this.queue.close();
    await this.storage.close();
    // Work that was broken off may be closing its file yet.
    await rm(this.folder, { recursive: true, maxRetries: 5 });
    expect(audit.violations).to.deep.equal([]);
  }

  /** Accepts jobs of ten credits, as a request would. */
  async accept(count = 1, modelId = "scripted/song", given: Partial<JobRequest> = {}): Promise<Job[]> {
    const { unitOfWork, idempotency, ledger, jobs } = this.storage;
    const acceptJobs = new AcceptJobs({ unitOfWork, idempotency, ledger, jobs, queue: this.queue, clock: this.clock });
    const results = await Promise.all(
      Array.from({ length: count }, () => {
        const now = this.clock.now();
        const served = { providerId: "scripted", modelId, servedModelId: modelId };
        const request = aJobRequest(given);
        const wanted = aJob({ ...served, accountId: this.accountId, createdAt: now, request });
        const { reserved: _reserved, creditsCharged: _creditsCharged, ...job } = wanted;
        return acceptJobs.accept({ job, cost: COST, concurrencyLimit: 1_000, idempotency: null, refusal: null });
      }),
    );
    return results.map((result) => {
      if (result.kind !== "accepted") throw new Error("The workshop's jobs are accepted.");
      return result.job;
    });
  }

  async acceptOne(modelId?: string, given: Partial<JobRequest> = {}): Promise<JobId> {
    const [job] = await this.accept(1, modelId, given);
    return (job as Job).id;
  }

  /** A worker that has not begun. */
  prepare(options: WorkerOptions = {}): Worker {
    const { logger, random } = this;
    const clock = options.clock ?? this.clock;
    const stored = { ...this.storage, ...options.stores };
    const { jobs, callbacks, unitOfWork, accounts, ledger, library, uploads } = stored;
    const { idempotency, health, installation, requestLog, webhooks } = stored;
    const ids = { next: anId };
    const settleJobs = new SettleJobs({
      ledger,
      jobs,
      library,
      writeEvents: eventsOf({ webhooks }),
      events: this.events,
    });
    const availability = new ProviderAvailability(health, unitOfWork, clock, {
      failures: options.breakerFailures ?? 1_000,
      openMs: 30_000,
    });
    const storeAsset = new StoreAsset(
      this.audio,
      options.opener ?? new GuardedAssetOpener({ connect: noConnection, clock, version: "0.0.0" }),
      options.maxBytes ?? 1_000_000,
    );
    const storeTracks = new StoreTracks(this.audio, clock, ids, storeAsset, {
      deriveFor: (track, signal) => this.derive(track, signal),
    });
    const capabilities = { ...NO_POWERS, ...options.capabilities };
    const providers = [this.provider, ...(options.withStandIn === true ? [this.standIn] : [])];
    const priced = options.expectedCost === undefined ? {} : { upstreamCost: options.expectedCost };
    const { modelRenderDeadlineMinutes: renderDeadlineMinutes } = options;
    const ownDeadline = renderDeadlineMinutes === undefined ? {} : { renderDeadlineMinutes };
    const catalogue = new Catalogue(
      providers.map(({ definition: { id, label, models } }) => ({
        ...capabilities,
        id,
        label,
        models: models.map((model) => ({ ...(options.changeModel?.(model) ?? model), ...priced, ...ownDeadline })),
        enabled: true,
        isReachable: true,
      })),
    );
    const routes = new Routes(catalogue, ROUTES);
    const buildRequest = new BuildRequest({
      catalogue,
      library,
      audio: this.audio,
      audioUrls: this.audioUrls,
      callbackUrls: this.callbackUrls,
    });
    const retry = { maxAttempts: options.maxAttempts ?? 3, backoffMs: 1_000 };
    const { queue } = this;
    const queueDeadlineMs = options.deadlineMs ?? 86_400_000;
    const renderDeadlineMs = options.renderDeadlineMs ?? queueDeadlineMs;
    const policies = new Policies(
      { retry, queueDeadlineMs, renderDeadlineMs, unknownGraceMs: GRACE_MS, confirmMs: 60_000 },
      catalogue,
      random,
    );
    const applyReports = new ApplyReports({
      jobs,
      callbacks,
      unitOfWork,
      settleJobs,
      queue,
      clock,
      metrics: this.metrics,
    });
    const endJobs = new EndJobs({ applyReports, policies, clock, ids });
    const storeFiles = new StoreFiles({ storeTracks, clock, random, logger });
    const runJob = new RunJob({
      jobs,
      callbacks,
      applyReports,
      storeFiles,
      buildRequest,
      routes,
      availability,
      clock,
      ids,
      random,
      logger,
      policies,
      renderTimes: new RenderTimes({ jobs, catalogue, clock }),
    });
    const collectAudio = new CollectAudio({ audio: this.audio, jobs, library, uploads, clock, logger });
    const kept = { queueDeadlineMs, eventsKeptMs: EVENTS_KEPT_MS };
    const stores = { jobs, callbacks, idempotency, requestLog, webhooks, library, uploads, unitOfWork };
    const tasks = maintenanceTasks({ ...stores, collectAudio, endJobs, clock, logger, ...kept });
    const maintenance = new Maintenance(tasks, { clock, logger });
    const owner = anId("prc");
    const leases = new Leases(
      owner,
      LEASE_MS,
      new ClockLeaseRenewal({ owner, leaseMs: LEASE_MS, jobs, clock, logger }),
      logger,
    );
    const counts: (() => number)[] = [];
    const working = providers.map((scripted): WorkingProvider => {
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
        poll: pollOf(counted.provider, clock),
      };
    });
    const cancelUpstream = new CancelUpstream({ jobs, unitOfWork, clock, logger });
    const hasStandIns = (providerId: string): boolean => routes.hasStandIns(providerId);
    const audit = unrecorded(unitOfWork);
    const submissions = new SubmissionSwitch({
      installation,
      audit,
      clock,
      logger,
      startsAs: options.submissions ?? "active",
    });
    const parts = {
      jobs,
      leases,
      runJob,
      cancelUpstream,
      hasStandIns,
      availability,
      submissions,
      clock,
      logger,
      sweepMs: 1_000,
      queue,
      maintenance,
    };
    const workJobs = new WorkJobs(working, parts);
    const acceptJobs = new AcceptJobs({ unitOfWork, idempotency, ledger, jobs, queue, clock });
    const costs = { stem_split: COST, vocal_removal: COST };
    const splits = new StartSplit({
      acceptJobs,
      audit,
      accounts,
      library,
      routes,
      availability,
      tiers: TIERS,
      clock,
      ids,
      costs,
    });
    const operate = new OperateJobs(jobs, library, endJobs, audit);
    return {
      jobs: workJobs,
      leases,
      clock,
      availability,
      applyReports,
      operate,
      splits,
      submissions,
      maintenance,
      calls: () => counts.reduce((sum, calls) => sum + calls(), 0),
      loops: tasks.length + working.length,
      stop: async (graceMs = 0, options = {}) => {
        this.workers.splice(
          this.workers.findIndex((worker) => worker.jobs === workJobs),
          1,
        );
        return this.passUntilDone(workJobs.stop(graceMs, options), clock);
      },
    };
  }

  /** A worker at work. */
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
      // A job in work sleeps, or waits for its provider, whose call has a limit; anything else is on its way.
      return [...clocks].every(([clock, { loops, held }]) => clock.sleeping - loops >= held);
    });
  }

  /** Lets time pass for everybody who goes by this clock. */
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

  /** A job's tries, as `[number, outcome]`. */
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

  /** Asserts that the job was charged once, ended in success and left its tracks. */
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

/** Turns the event loop until `condition` holds. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  // Whatever was set in motion just now gets its first turn before the first look.
  await nextTurn();
  while (!(await condition())) {
    if (Date.now() > giveUpAt) throw new Error(`Waited in vain until ${what}.`);
    await nextTurn();
  }
}

/** What is scripted is delivered as bytes. */
const noConnection: AssetOpenerParts["connect"] = (_options, callback) =>
  callback(new Error("Nothing is fetched in the workshop."), null);

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
