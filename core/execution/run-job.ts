import { ServiceUnavailableError } from "../errors.js";
import type { ClaimedJob } from "../ports/job-claims.js";
import type { SpanDescription } from "../ports/tracer.js";
import { processJob } from "../tracing/job-spans.js";
import { traced } from "../tracing/traced.js";
import { JobStep, type RunJobDeps } from "./job-step.js";
import type { Lease } from "../leases/lease.js";
import { readCallbacks } from "./inbox.js";
import { finished, poll, resolve } from "./poll.js";
import { CRASHES_MAX, POLL_RETRY_MS } from "../attempts/policy.js";
import { openAttempt } from "../attempts/situation.js";
import { settleStored, storeAndSettle } from "./store-and-settle.js";
import { discardWhenEnded, submit } from "./submit.js";
import type { WorkingProvider } from "./working-provider.js";

/**
 * One step of a claimed job, by the state of its open attempt: submit, resolve, poll, fetch, settle. Each step ends
 * with the job settled, queued again, or due later; the provider renders meanwhile without a worker.
 */
export class RunJob {
  constructor(private readonly deps: RunJobDeps) {}

  /** Never throws: every outcome is written to the job or to the log. */
  run(claimed: ClaimedJob, working: WorkingProvider, lease: Lease): Promise<void> {
    const { trace } = claimed.job;
    // A job that was accepted without tracing has no trace that its steps could be in.
    if (this.deps.tracer === null || trace === null) return this.step(claimed, working, lease);
    const describe = (): SpanDescription => processJob(claimed.job, trace);
    return traced(this.deps.tracer, describe, () => this.step(claimed, working, lease));
  }

  private async step(claimed: ClaimedJob, working: WorkingProvider, lease: Lease): Promise<void> {
    const step = new JobStep(this.deps, claimed, working, lease);
    try {
      if (claimed.job.crashes <= CRASHES_MAX || (await mayGoOn(step, claimed.wasLost))) await act(step);
    } catch (error) {
      if (lease.signal.aborted) await aborted(step);
      else if (error instanceof ServiceUnavailableError) await cutOff(step, error);
      else await crashed(step, error);
    }
  }
}

/** Whether a job is worked on with which workers were lost again and again. */
async function mayGoOn(step: JobStep, wasLost: boolean): Promise<boolean> {
  const applied = await step.report({ type: "suspected", wasLost });
  if (applied.next === "continue") return true;
  const { crashes, leaseOwner, dueAt, providerId: provider } = step.job;
  if (applied.ended === null && leaseOwner === null) {
    const due_at = dueAt === null ? null : new Date(dueAt).toISOString();
    const message = "Workers in a row were lost with a job; it is left alone for a while, since it may be paid already";
    step.deps.logger.warn(message, { workers: crashes, due_at, provider });
  }
  await discardWhenEnded(step, applied);
  return false;
}

async function act(step: JobStep): Promise<void> {
  const attempt = openAttempt(step);
  if (attempt === undefined) return submitAgain(step);
  if (attempt.state === "accepted") return poll(step, attempt);
  if (attempt.state === "stored") return settleStored(step, attempt);
  if (attempt.state !== "finished") return resolve(step, attempt);
  if (attempt.result !== null) return storeAndSettle(step, attempt.number, attempt.result, "link");
  if (attempt.handle !== null) return poll(step, attempt);
  // The result was in the memory of a worker that may still be alive.
  await discardWhenEnded(step, await step.report({ type: "unresolved", number: attempt.number, callbacksRead: [] }));
}

/** Work that a callback reports as completed is not bought again. */
async function submitAgain(step: JobStep): Promise<void> {
  const { other } = step.attempts.length === 0 ? { other: null } : await readCallbacks(step, null);
  return other === null ? submit(step) : finished(step, other);
}

/** A stop of this process, or the loss of the lease, aborted the step. */
async function aborted(step: JobStep): Promise<void> {
  if (step.signal.reason === "lease_lost") return;
  try {
    await step.release(0);
  } catch (error) {
    // The lease runs out, and another worker goes on.
    step.deps.logger.error("A job could not be released", { error });
  }
}

/** The storage could not be read: the job is released without a crash count, and retried. */
async function cutOff(step: JobStep, error: unknown): Promise<void> {
  const { logger } = step.deps;
  logger.warn("The storage is unavailable; the job step will be retried", { error });
  try {
    await step.release(step.jittered(POLL_RETRY_MS));
  } catch (second) {
    // The lease runs out, and another worker goes on.
    logger.error("A job could not be released", { error: second });
  }
}

/** The step failed unexpectedly: the crash is counted and the step retried later. */
async function crashed(step: JobStep, error: unknown): Promise<void> {
  const { logger } = step.deps;
  logger.error("Job step failed unexpectedly; it will be retried", {
    error,
    provider: step.job.providerId,
  });
  try {
    await discardWhenEnded(step, await step.report({ type: "crashed", endsCollection: step.isCollecting }));
  } catch (second) {
    // The lease runs out, and the next claim counts the crash.
    logger.error("A job could not be released", { error: second });
  }
}
