import { BackgroundLoop } from "../background-loop.js";
import type { Slots } from "../figures/show-figures.js";
import type { JobId } from "../ids.js";
import { logIdsOf } from "../jobs/log-ids.js";
import type { Clock } from "../ports/clock.js";
import type { ClaimRequest, NextDueAt } from "../ports/job-claims.js";
import type { JobQueue } from "../ports/job-queue.js";
import type { JobStore } from "../ports/job-store.js";
import type { Logger } from "../ports/logger.js";
import type { Lease } from "../leases/lease.js";
import type { Leases } from "../leases/leases.js";
import type { OutageRecovery } from "../leases/outage-recovery.js";
import type { ProviderAvailability } from "../providers/provider-availability.js";
import type { RunJob } from "./run-job.js";
import type { CancelUpstream } from "./cancel-upstream.js";
import type { SubmissionSwitch } from "./submission-switch.js";
import type { WorkingProvider } from "./working-provider.js";

export interface ProviderWorkerDeps {
  readonly working: WorkingProvider;
  readonly jobs: JobStore;
  readonly queue: Pick<JobQueue, "notify">;
  readonly leases: Leases;
  readonly recovery: OutageRecovery;
  readonly runJob: RunJob;
  readonly cancelUpstream: Pick<CancelUpstream, "cancelDue">;
  /** Whether jobs of this provider may go to another. */
  hasFallbacks(providerId: string): boolean;
  readonly availability: ProviderAvailability;
  readonly submissions: Pick<SubmissionSwitch, "arePaused">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How often the worker looks for due jobs of which no notification came. */
  readonly sweepMs: number;
}

/** Polls at once per provider and process; a poll is one short request. */
const POLLS_MAX = 50;

/**
 * Jobs are claimed together: while more are due than there are slots, when this part of the slots is free, or so long
 * after the first of them became free; and polls that become due within that time.
 */
const REFILL_PARTS = 4;
const REFILL_MS = 20;

/** While each claim of waiting jobs is full, what else has come to be due is looked for so often. */
const LOOK_MS = 50;

const TO_BEGIN = ["waiting"] as const;
const TO_RESOLVE = ["submitting"] as const;

/** Works on the jobs of one provider: claims no more than it has free slots for, and again whenever a slot is free. */
export class ProviderWorker {
  private readonly submitting = new Map<JobId, Promise<void>>();
  private readonly polling = new Map<JobId, Promise<void>>();
  private readonly loop: BackgroundLoop;
  private readonly stopping = new AbortController();
  private cancelling: Promise<void> | null = null;
  /** The last look at what is due, and its time. */
  private seen: { readonly due: NextDueAt; readonly at: number } | null = null;
  /** Whether the last claim of waiting jobs was full. */
  private hasBacklog = false;
  /** The last job that was claimed. */
  private lastJob: JobId | null = null;
  /** Whether jobs waited to be submitted at the last look, and whether more polls were due than there were slots. */
  private hasWaiting = false;
  private hasPolls = false;
  private stopped: Promise<void> = Promise.resolve();

  constructor(private readonly deps: ProviderWorkerDeps) {
    const { working, clock, logger, sweepMs } = deps;
    this.loop = new BackgroundLoop({
      step: () => this.claimDue(),
      errorPauseMs: sweepMs,
      clock,
      logger: logger.child({ provider: working.id }),
      errorMessage: "Due jobs could not be claimed",
    });
  }

  start(): void {
    this.loop.start();
  }

  /** What this process may have under way at the provider, and what it has. */
  get slots(): readonly Slots[] {
    const { id: provider, concurrency: max } = this.deps.working;
    return [
      { provider, kind: "submit", inUse: this.submitting.size, max },
      { provider, kind: "poll", inUse: this.polling.size, max: POLLS_MAX },
    ];
  }

  /** There is work. Resolves when a claim that began after this call is over: what it claims is committed. */
  notified(): Promise<void> {
    return this.loop.nextStep(this.claimWithinMs);
  }

  /** Stops claiming; running steps continue. */
  stop(): void {
    this.stopping.abort();
    this.stopped = this.loop.stop();
  }

  /** Resolves when no step runs any more. */
  async idle(): Promise<void> {
    // A claim may be under way; what it brings is waited for as well.
    await this.stopped;
    await this.cancelling;
    await Promise.all([...this.submitting.values(), ...this.polling.values()]);
  }

  /** @returns how long to wait before the next claim, in milliseconds */
  private async claimDue(): Promise<number> {
    const { clock, sweepMs, recovery, cancelUpstream } = this.deps;
    try {
      const known = this.stillDue();
      const due = known ?? (await this.look());
      const now = clock.now();
      const isDue = (at: number | null): boolean => at !== null && at <= now;
      this.hasWaiting = isDue(due.waiting);
      const submissions = await this.claimSubmissions({ waiting: this.hasWaiting, submitting: isDue(due.submitting) });
      if (known === null && this.hasBacklog && submissions > 0) await this.wakeAnother();
      const polls = isDue(due.rendering) ? await this.claimPolls() : 0;
      this.cancelling ??= cancelUpstream
        .cancelDue(this.deps.working, this.stopping.signal)
        .finally(() => (this.cancelling = null));
      // More of them may be due, or soon.
      if ((submissions > 0 && this.freeSlots > 0) || (known !== null && !this.hasBacklog)) return 0;
      if (polls > 0) return REFILL_MS;
      // What is due but was not taken waits for a free slot or for the breaker.
      const later = Object.values(due).filter((at) => at !== null && at > now);
      const lookAt = known === null || this.seen === null ? [] : [this.seen.at + LOOK_MS];
      return Math.min(...[...later, ...lookAt].map((at) => Math.max(0, (at as number) - clock.now())), sweepMs);
    } catch (error) {
      recovery.failed(error);
      throw error;
    }
  }

  /** What was due at the last look, while there is a backlog and nothing else has come to be due; null: it is over. */
  private stillDue(): NextDueAt | null {
    if (!this.hasBacklog || this.seen === null) return null;
    const { due, at } = this.seen;
    const now = this.deps.clock.now();
    const isOver = now < at || now >= at + LOOK_MS;
    return isOver || [due.submitting, due.rendering].some((other) => other !== null && other <= now) ? null : due;
  }

  private async look(): Promise<NextDueAt> {
    const at = this.deps.clock.now();
    const due = await this.deps.jobs.nextDueAt(this.deps.working.id);
    this.seen = { due, at };
    return due;
  }

  /** Another worker is woken for what this one has no slots for: one notification stands for several jobs. */
  private async wakeAnother(): Promise<void> {
    const { waiting } = await this.look();
    this.hasBacklog = waiting !== null && waiting <= this.deps.clock.now();
    if (this.hasBacklog && this.lastJob !== null)
      this.deps.queue.notify([{ jobId: this.lastJob, providerId: this.deps.working.id }]);
  }

  /** How many more submissions this process may make now. */
  private get freeSlots(): number {
    return this.deps.working.concurrency - this.submitting.size;
  }

  private get claimWithinMs(): number {
    return this.hasWaiting && this.freeSlots * REFILL_PARTS < this.deps.working.concurrency ? REFILL_MS : 0;
  }

  /** After a poll most jobs are due later. While others are polled, only a slot may be waited for. */
  private get pollWithinMs(): number {
    const free = POLLS_MAX - this.polling.size;
    const isRefilled = this.hasPolls && free * REFILL_PARTS >= POLLS_MAX;
    return this.polling.size === 0 || isRefilled ? 0 : REFILL_MS;
  }

  private async claimPolls(): Promise<number> {
    const free = POLLS_MAX - this.polling.size;
    const claimed = await this.claim(["rendering"], this.polling, free);
    this.hasPolls = claimed === free;
    return claimed;
  }

  /** @returns how many jobs it took */
  private async claimSubmissions(due: Readonly<Record<"waiting" | "submitting", boolean>>): Promise<number> {
    const { availability } = this.deps;
    const { id, capabilities } = this.deps.working;
    const state = await availability.state(id);
    let claimed = 0;
    // What became of a lost submission is found out without submitting: no matter of the breaker, and no trial of it.
    if (!capabilities.idempotentSubmit && due.submitting)
      claimed += await this.claim(TO_RESOLVE, this.submitting, this.freeSlots);
    // Asked also while nothing is due: the log shows operators that this process heeds the switch.
    if (await this.deps.submissions.arePaused()) return claimed;
    const isRepeated = capabilities.idempotentSubmit && due.submitting;
    if (this.freeSlots <= 0 || !(due.waiting || isRepeated)) return claimed;
    // A search for what is not due passes over the entries of all that were: each claim would take twice as long.
    const phases: ClaimRequest["phases"] = [...(due.waiting ? TO_BEGIN : []), ...(isRepeated ? TO_RESOLVE : [])];
    if (state === "open") {
      // They are claimed to be given to a fallback, not to be submitted.
      if (!this.deps.hasFallbacks(id)) return claimed;
      return claimed + (await this.claim(TO_BEGIN, this.submitting, this.freeSlots, null));
    }
    if (state === "closed") return claimed + (await this.claim(phases, this.submitting, this.freeSlots));
    // The trial is taken before the job, and only when there seems to be one: the other processes go without it
    // meanwhile.
    if (!(await availability.takeTrial(id))) return claimed;
    const tried = await this.claim(phases, this.submitting, 1);
    if (tried === 0) await availability.returnTrial(id);
    return claimed + tried;
  }

  /** @returns how many jobs it took */
  private async claim(
    phases: ClaimRequest["phases"],
    running: Map<JobId, Promise<void>>,
    limit: number,
    maxInFlight = this.deps.working.maxInFlight,
  ): Promise<number> {
    const { jobs, leases, runJob, clock } = this.deps;
    if (limit <= 0 || this.loop.isStopped) return 0;
    const { leaveOwned } = await this.deps.recovery.beforeClaim();
    const now = clock.now();
    const leaseUntil = now + leases.leaseMs;
    const claimed = await jobs.claimJobs({
      providerId: this.deps.working.id,
      phases,
      limit,
      now,
      dueFrom: this.seen?.due ?? {},
      owner: leases.owner,
      leaseUntil,
      maxInFlight,
      // A poll needs it once, when the provider has finished.
      withRequests: !phases.includes("rendering"),
      // Their leases may have run out, as after a pause of the whole process. Another process may take them; they are
      // not begun again here.
      except: leases.mayHaveEnded(now),
      leaveOwned,
    });
    if (phases.includes("waiting")) this.hasBacklog = claimed.length === limit;
    const held = leases.hold(
      claimed.map(({ job }) => ({ jobId: job.id, fence: job.fence, leaseUntil, logIds: logIdsOf(job) })),
    );
    this.lastJob = claimed.at(-1)?.job.id ?? this.lastJob;
    for (const [index, one] of claimed.entries()) {
      const { id, fence } = one.job;
      const work = runJob.run(one, this.deps.working, held[index] as Lease).finally(() => {
        leases.release(id, fence);
        if (running.get(id) === work) running.delete(id);
        this.loop.wake(running === this.polling ? this.pollWithinMs : this.claimWithinMs);
      });
      running.set(id, work);
    }
    return claimed.length;
  }
}
