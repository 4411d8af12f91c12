import type { JobId } from "../ids.js";
import type { Clock } from "../ports/clock.js";
import type { ClaimRequest, JobStore } from "../ports/job-store.js";
import type { Logger } from "../ports/logger.js";
import type { Leases } from "./leases.js";
import type { OutageRecovery } from "./outage-recovery.js";
import type { ProviderAvailability } from "../providers/provider-availability.js";
import type { RunJob } from "./run-job.js";
import type { CancelUpstream } from "./cancel-upstream.js";
import type { SubmissionSwitch } from "./submission-switch.js";
import type { WorkingProvider } from "./working-provider.js";

export interface ProviderWorkerParts {
  readonly jobs: JobStore;
  readonly leases: Leases;
  readonly recovery: OutageRecovery;
  readonly runJob: RunJob;
  readonly cancelUpstream: Pick<CancelUpstream, "cancelDue">;
  /** Whether jobs of this provider may go to another. */
  hasStandIns(providerId: string): boolean;
  readonly availability: ProviderAvailability;
  readonly submissions: Pick<SubmissionSwitch, "arePaused">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How often the worker looks for due jobs that no bell announced. */
  readonly sweepMs: number;
}

/** Polls at once per provider and process; a poll is one short request. */
const POLLS_MAX = 50;

const TO_BEGIN = ["waiting"] as const;
const TO_SUBMIT = ["waiting", "submitting"] as const;

/** Works on the jobs of one provider: claims no more than it has hands for, and looks again whenever a hand is free. */
export class ProviderWorker {
  private readonly submitting = new Map<JobId, Promise<void>>();
  private readonly polling = new Map<JobId, Promise<void>>();
  private alarm = new AbortController();
  private looking: Promise<number> = Promise.resolve(0);
  private waitingForLook: (() => void)[] = [];
  private stopped = false;
  private readonly stopping = new AbortController();
  private cancelling: Promise<void> | null = null;

  constructor(
    private readonly working: WorkingProvider,
    private readonly parts: ProviderWorkerParts,
  ) {}

  /** There may be work. */
  wake(): void {
    this.alarm.abort();
  }

  /** There is work. Resolves when a look that began after this call is over: what it claims is committed. */
  heard(): Promise<void> {
    if (this.stopped) return Promise.resolve();
    return new Promise((resolve) => {
      this.waitingForLook.push(resolve);
      this.wake();
    });
  }

  /** Claims nothing more; what runs goes on. */
  stop(): void {
    this.stopped = true;
    this.stopping.abort();
    this.wake();
  }

  /** Resolves when nothing runs any more. */
  async idle(): Promise<void> {
    // A claim may be under way; what it brings is waited for as well.
    await this.looking;
    await this.cancelling;
    await Promise.all([...this.submitting.values(), ...this.polling.values()]);
  }

  /** Works until {@link stop}. */
  async work(): Promise<void> {
    while (!this.stopped) {
      // Renewed before the look, so that a bell during it is not slept through.
      this.alarm = new AbortController();
      const heard = this.waitingForLook;
      this.waitingForLook = [];
      this.looking = this.look();
      const waitMs = await this.looking;
      for (const resolve of heard) resolve();
      await this.parts.clock.sleep(waitMs, this.alarm.signal);
    }
    for (const resolve of this.waitingForLook) resolve();
  }

  /** Claims what is due. @returns how long to wait for the next look, in milliseconds */
  private async look(): Promise<number> {
    const { jobs, clock, logger, sweepMs } = this.parts;
    try {
      await this.claimSubmissions();
      await this.claim(["rendering"], this.polling, POLLS_MAX - this.polling.size);
      this.cancelling ??= this.parts.cancelUpstream.cancelDue(this.working, this.stopping.signal).finally(() => (this.cancelling = null));
      const dueAt = await jobs.nextDueAt(this.working.id);
      const waitMs = dueAt === null ? sweepMs : dueAt - clock.now();
      // A job that is due but was not taken waits for a free hand or for the breaker.
      return waitMs > 0 ? Math.min(waitMs, sweepMs) : sweepMs;
    } catch (error) {
      this.parts.recovery.failed(error);
      logger.error("Due jobs could not be claimed", { error, provider: this.working.id });
      return sweepMs;
    }
  }

  /** How many more submissions this process may make now. */
  private get hands(): number {
    return this.working.concurrency - this.submitting.size;
  }

  private async claimSubmissions(): Promise<void> {
    const { jobs, availability, clock } = this.parts;
    const { id, capabilities } = this.working;
    const state = await availability.state(id);
    // What became of a lost submission is found out without submitting: no matter of the breaker, and no try of it.
    if (!capabilities.idempotentSubmit) await this.claim(["submitting"], this.submitting, this.hands);
    if (this.hands <= 0 || (await this.parts.submissions.arePaused())) return;
    const phases = capabilities.idempotentSubmit ? TO_SUBMIT : TO_BEGIN;
    if (state === "open") {
      // They are taken to be handed to a stand-in, not to be submitted.
      if (this.parts.hasStandIns(id)) await this.claim(TO_BEGIN, this.submitting, this.hands, null);
      return;
    }
    if (state === "closed") {
      await this.claim(phases, this.submitting, this.hands);
      return;
    }
    // The try is taken before the job, and only when there seems to be one: the other processes go without it meanwhile.
    const dueAt = await jobs.nextDueAt(id);
    if (dueAt === null || dueAt > clock.now() || !(await availability.takeTrial(id))) return;
    if ((await this.claim(phases, this.submitting, 1)) === 0) await availability.returnTrial(id);
  }

  /** @returns how many jobs it took */
  private async claim(
    phases: ClaimRequest["phases"],
    running: Map<JobId, Promise<void>>,
    limit: number,
    maxInFlight = this.working.maxInFlight,
  ): Promise<number> {
    const { jobs, leases, runJob, clock } = this.parts;
    if (limit <= 0 || this.stopped) return 0;
    const { leaveOwned } = await this.parts.recovery.beforeClaim();
    const now = clock.now();
    const claimed = await jobs.claimJobs({
      providerId: this.working.id,
      phases,
      limit,
      now,
      owner: leases.owner,
      leaseUntil: now + leases.leaseMs,
      maxInFlight,
      // Their leases may have run out, as after a pause of the whole process. Whoever else comes first takes them; they are not begun anew here.
      except: leases.kept,
      leaveOwned,
    });
    for (const one of claimed) {
      const { id, fence } = one.job;
      const work = runJob.run(one, this.working, leases.hold(id, fence)).finally(() => {
        leases.release(id, fence);
        if (running.get(id) === work) running.delete(id);
        this.wake();
      });
      running.set(id, work);
    }
    return claimed.length;
  }
}
