import { ServiceUnavailableError } from "../errors.js";
import type { Job, JobAttempt, JobRequest, JobState } from "../jobs/job.js";
import type { DeriveAssets } from "../library/derive-assets.js";
import type { CallbackStore } from "../ports/callback-store.js";
import type { Clock } from "../ports/clock.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { ClaimedJob } from "../ports/job-claims.js";
import type { JobStore } from "../ports/job-store.js";
import type { Logger } from "../ports/logger.js";
import type { Metrics } from "../ports/metrics.js";
import type { SpanDescription, Tracer } from "../ports/tracer.js";
import type { CallContext, ProviderFailure } from "../ports/music-provider.js";
import type { Random } from "../ports/random.js";
import { healthIdOf } from "../providers/circuit-breaker.js";
import type { ProviderAvailability } from "../providers/provider-availability.js";
import type { RenderTimes } from "../providers/render-times.js";
import type { Route, Routes } from "../providers/routes.js";
import type { ApplyReports } from "../attempts/apply-reports.js";
import type { Applied, ReportCommand } from "../attempts/report-groups.js";
import type { BuildRequest } from "./build-request.js";
import { callPlugin } from "./call-plugin.js";
import type { ExecutionEvent } from "../attempts/events.js";
import type { Lease } from "../leases/lease.js";
import type { Policies } from "../attempts/policies.js";
import { type ExecutionPolicy, isStoredPlain } from "../attempts/policy.js";
import { backoffMs } from "../attempts/retry-policy.js";
import type { StoreFiles } from "../results/store-files.js";
import { traced } from "../tracing/traced.js";
import { plainCallLimit, type WorkingProvider } from "./working-provider.js";

export interface RunJobDeps {
  readonly jobs: JobStore;
  readonly callbacks: CallbackStore;
  readonly applyReports: Pick<ApplyReports, "apply">;
  readonly storeFiles: StoreFiles;
  readonly derived: Pick<DeriveAssets, "decodes">;
  readonly buildRequest: BuildRequest;
  readonly routes: Routes;
  readonly availability: ProviderAvailability;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "countProviderCall"> | null;
  readonly tracer: Tracer | null;
  readonly policies: Policies;
  readonly renderTimes: Pick<RenderTimes, "usualMs">;
}

type FinishedEvent = Extract<ExecutionEvent, { type: "finished" }>;

const REPORT_RETRY_MS = 200;
const REPORT_RETRY_DOUBLINGS = 6;

interface CallOptions<Result> {
  readonly limitMs?: number;
  readonly onLate?: (result: Result) => void;
}

/** One step of a claimed job: its state, the calls of its provider, and the reports of their results. */
export class JobStep {
  private state: JobState;
  private tried: readonly JobAttempt[];
  private request: JobRequest | null;
  private hasBegunCollection = false;

  readonly deps: RunJobDeps;

  constructor(
    deps: RunJobDeps,
    claimed: Pick<ClaimedJob, "job" | "request" | "attempts">,
    readonly working: WorkingProvider,
    readonly lease: Lease,
  ) {
    // Every line of a job has its ids.
    this.deps = { ...deps, logger: deps.logger.child(lease.logIds) };
    this.state = claimed.job;
    this.request = claimed.request;
    this.tried = claimed.attempts;
  }

  /** The state after the claim or the last report. */
  get job(): JobState {
    return this.state;
  }

  get attempts(): readonly JobAttempt[] {
    return this.tried;
  }

  get signal(): AbortSignal {
    return this.lease.signal;
  }

  /** Whether this worker has recorded that it collects the job's files. */
  get isCollecting(): boolean {
    return this.hasBegunCollection;
  }

  /** Whether this worker still had the lease at its last report. */
  get holdsLease(): boolean {
    return this.state.fence === this.lease.fence;
  }

  /** The current route of the job. */
  get route(): Route {
    const { servedModelId, operation } = this.state;
    return { providerId: this.working.id, servedModelId, operation };
  }

  /** Whether callbacks of the job are read. */
  get hasCallbacks(): boolean {
    return (this.working.capabilities.callbacks ?? "none") !== "none";
  }

  /** The job with what its caller asked for. */
  async wholeJob(): Promise<Job> {
    const request = await this.findRequest();
    if (request === null) throw new Error(`The job ${this.state.id} is no longer in the storage.`);
    return { request, ...this.state };
  }

  /**
   * Sends a report until it is written, so that a provider's reply survives an outage of the storage.
   *
   * @throws the last error: an aborted step tries once more, and an error that is not the storage's is not retried
   */
  async report(event: ExecutionEvent): Promise<Applied> {
    const { clock, random, logger, ids, applyReports } = this.deps;
    const { id: jobId, accountId } = this.state;
    const report = { jobId, accountId, reportId: ids.next("rpt"), fence: this.lease.fence, event };
    // The same object each time: what it bought is counted by it.
    let command: ReportCommand | null = null;
    for (let tries = 1, isLast = false; ; tries++) {
      try {
        command ??= { policy: await this.policy(), request: this.request, ...report };
        const applied = await applyReports.apply(command);
        if (applied.job !== null) this.state = applied.job;
        this.tried = applied.attempts;
        return applied;
      } catch (error) {
        if (!(error instanceof ServiceUnavailableError) || isLast) throw error;
        // The report may have been written before its reply was lost: listeners are notified once that is
        // known.
        isLast = this.signal.aborted;
        logger.warn("The storage is unavailable; the report is sent again", { error, event: event.type });
        await clock.sleep(
          backoffMs(REPORT_RETRY_MS, Math.min(tries, REPORT_RETRY_DOUBLINGS), random.fraction()),
          this.signal,
        );
      }
    }
  }

  /** Whether what is derived from the files is made of them: not of a split's, nor where that may crash workers. */
  get mayAnalyse(): boolean {
    return this.state.kind === "music" && (this.hasBegunCollection || !isStoredPlain(this.state));
  }

  /** Whether the begin of a collection is recorded: what is not decoded crashes no worker. */
  private get recordsCollections(): boolean {
    return this.deps.derived.decodes;
  }

  /**
   * Reports the provider's result. Together with it is recorded that this worker collects the job's files, as by
   * {@link beginCollection}.
   */
  async reportFinished(event: Omit<FinishedEvent, "type" | "collects">): Promise<Applied> {
    const collects = this.mayAnalyse && this.recordsCollections;
    const applied = await this.report({ type: "finished", collects, ...event });
    this.hasBegunCollection ||= collects && applied.next === "continue" && this.holdsLease;
    return applied;
  }

  /**
   * Records that this worker collects the job's files, so that a file that crashes its worker is not analysed again and
   * again.
   */
  async beginCollection(): Promise<void> {
    if (this.hasBegunCollection || !this.recordsCollections) return;
    const { next } = await this.report({ type: "collecting" });
    this.hasBegunCollection = next === "continue";
  }

  /**
   * Reports the outcome of an aborted call once, because the process stops. After a lost lease the other worker
   * resolves it.
   */
  async reportAborted(event: ExecutionEvent): Promise<void> {
    const { logger } = this.deps;
    try {
      await this.report(event);
    } catch (error) {
      logger.error("The outcome of an aborted call could not be written", { error });
    }
  }

  /** Releases the lease without a report. */
  async release(afterMs: number): Promise<void> {
    await this.report({ type: "released", afterMs, endsCollection: this.isCollecting });
  }

  /**
   * Calls the plugin within its hard limit: that of a call without a source by default. The late result of an abandoned
   * call goes to `onLate`.
   */
  call<Result>(
    name: string,
    invoke: (context: CallContext) => Promise<Result>,
    { limitMs = plainCallLimit(this.working), onLate }: CallOptions<Result> = {},
  ): Promise<Result> {
    const { clock, logger, metrics, tracer } = this.deps;
    const { id: providerId } = this.working;
    const plugin = { providerId, name, limitMs, signal: this.signal, clock, logger, metrics };
    const attributes = { "fermata.provider": providerId, "fermata.model": this.state.servedModelId };
    const describe = (): SpanDescription => ({ name: `${name} ${providerId}`, kind: "client", attributes });
    return traced(tracer, describe, () => callPlugin(plugin, invoke, onLate));
  }

  jittered(ms: number): number {
    return backoffMs(ms, 1, this.deps.random.fraction());
  }

  /** The provider is available: it responded. */
  async noteSuccess(): Promise<void> {
    await this.noteHealth(() => this.deps.availability.recordSuccess(this.working.id));
  }

  /** The provider is available and offers the job's model or operation. */
  async noteOffered(): Promise<void> {
    await this.noteSuccess();
    await this.noteHealth(() => this.deps.availability.recordSuccess(healthIdOf(this.route)));
  }

  /** The provider is available but does not offer the model or operation: only jobs for that are kept away. */
  async noteNotOffered(failure: ProviderFailure): Promise<void> {
    await this.noteSuccess();
    await this.noteHealth(async () => {
      await this.deps.availability.recordBroken(healthIdOf(this.route));
      this.deps.logger.error("A provider no longer offers a model", {
        provider: this.working.id,
        model: this.state.servedModelId ?? this.state.operation,
        error: failure,
      });
    });
  }

  async noteFailure(): Promise<void> {
    await this.noteHealth(async () => {
      const opened = await this.deps.availability.recordFailure(this.working.id);
      if (opened) this.deps.logger.error("The circuit breaker of a provider opened", { provider: this.working.id });
    });
  }

  /** Keeps work away from a provider that needs its operator, from the first failure on. */
  async noteBroken(failure: ProviderFailure): Promise<void> {
    await this.noteHealth(async () => {
      await this.deps.availability.recordBroken(this.working.id);
      this.deps.logger.error("A provider needs its operator", {
        provider: this.working.id,
        kind: failure.kind,
        error: failure,
      });
    });
  }

  private async policy(): Promise<ExecutionPolicy> {
    const { policies } = this.deps;
    if (!policies.dependsOnRequest(this.state)) return policies.of(this.state);
    return policies.of(this.state, await this.findRequest());
  }

  private async findRequest(): Promise<JobRequest | null> {
    const { id } = this.state;
    this.request ??= (await this.deps.jobs.findJobs([id])).get(id)?.request ?? null;
    return this.request;
  }

  /** When the breaker's count cannot be written, the job continues. */
  private async noteHealth(note: () => Promise<void>): Promise<void> {
    try {
      await note();
    } catch (error) {
      this.deps.logger.warn("The health of a provider could not be written", { error, provider: this.working.id });
    }
  }
}
