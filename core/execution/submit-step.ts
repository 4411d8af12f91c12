import {
  type Accepted,
  type Completed,
  type LookupOutcome,
  ProviderFailure,
  type SubmitRequest,
} from "../ports/music-provider.js";
import type { JobChanges } from "../ports/job-store.js";
import type { AttemptResult } from "../jobs/decide-settlement.js";
import { deliveredHandle } from "./stored-result.js";
import { jobErrorOf } from "../jobs/job-errors.js";
import { isLasting } from "./lasting-failure.js";
import { type JobStep, POLL_MIN_MS, POLL_RETRY_MS } from "./job-step.js";
import { WorkAbandoned } from "./job-writes.js";
import { backoffMs, boundedRetryAfterMs, isRetryable, needsOperator, retryDelayMs } from "./retry-policy.js";
import type { Route } from "../providers/routes.js";

/** How long a job waits before it asks again whether its provider, or a stand-in, is there. */
const CLOSED_DOOR_MS = 10_000;

/** Announces a call of the provider, makes it, and writes what came of it. */
export async function submit(step: JobStep): Promise<void> {
  const { job, parts, working } = step;
  if (job.phase === "waiting" && (await parts.availability.state(working.id)) === "open") {
    const route = await nextRoute(step);
    if (route !== null) return moveTo(step, route, null);
    return step.handBack({ status: "queued", phase: "waiting", dueAt: step.inMs(step.jittered(CLOSED_DOOR_MS)) }, null);
  }
  step.attempt = job.attempt + 1;
  const attemptId = parts.ids.next("att");
  step.checkNotAborted();
  let request;
  try {
    request = await parts.buildRequest.build(job, working.capabilities, attemptId, step.attempt);
  } catch (error) {
    if (!isLasting(error)) throw error;
    return step.fail(jobErrorOf(error.kind), null);
  }
  if (!(await step.writes.announce(attemptId, step.attempt, working.id))) return;
  const canBeRepeated = working.capabilities.idempotentSubmit;
  if (step.signal.aborted || !(canBeRepeated || step.lease.mayBeginUnrepeatable)) return stoppedBefore(step);
  const work = { kind: "submission", providerId: working.id } as const;
  const calling = canBeRepeated ? call(step, request) : step.lease.unrepeatable(work, () => call(step, request));
  const fetchable = await calling;
  if (fetchable !== null) await step.complete(fetchable, true);
}

/** Calls the provider and writes the outcome. @returns a result that is still to be stored and can be had again */
async function call(step: JobStep, request: SubmitRequest): Promise<Completed | null> {
  let outcome: Completed | Accepted;
  try {
    outcome = await step.working.provider.submit(request, { signal: step.signal });
  } catch (error) {
    await failed(step, error);
    return null;
  }
  return answered(step, outcome);
}

/** A submission was announced and nothing is known of it: the worker was lost, or the reply. */
export async function resolveLostSubmission(step: JobStep): Promise<void> {
  const { job, parts, working } = step;
  if (working.capabilities.idempotentSubmit) return submit(step);
  const lost = (await parts.jobs.listAttempts(job.id)).at(-1);
  const graceEndsAt = (lost?.startedAt ?? job.createdAt) + parts.unknownGraceMs;
  if (working.capabilities.lookup && working.provider.lookup !== undefined && lost !== undefined) {
    let found: LookupOutcome | null = null;
    try {
      found = await working.provider.lookup(lost.id, { signal: step.signal });
    } catch (error) {
      if (step.signal.aborted) return step.handBackAborted(null);
      parts.logger.warn("A lost submission could not be looked up", { error, job_id: job.id });
    }
    if (found?.state === "absent") {
      const settledAt = lost.startedAt + (working.capabilities.lookupSettlesMs ?? 0);
      if (parts.clock.now() < settledAt) return step.handBack({ dueAt: settledAt }, null);
      const never = new ProviderFailure("unavailable", "The provider never heard of it.");
      return step.handBack({ status: "queued", phase: "waiting", dueAt: parts.clock.now() }, step.resultOf(never));
    }
    if (found !== null) {
      const fetchable = await answered(step, found);
      if (fetchable !== null) await step.complete(fetchable, true);
      return;
    }
  }
  const now = parts.clock.now();
  if (now >= graceEndsAt) {
    // What it made, and we lost before it was stored, is in the books already.
    if (lost?.outcome === "completed") return step.fail(jobErrorOf("failed"), null);
    const unknown = step.resultOf(new ProviderFailure("outcome_unknown", "Nothing was heard of the submission."));
    return step.fail(jobErrorOf("outcome_unknown"), { ...unknown, message: lost?.message ?? unknown.message, cost: lost?.cost ?? unknown.cost });
  }
  const lookAgainAt = working.capabilities.lookup ? now + step.jittered(POLL_RETRY_MS) : graceEndsAt;
  await step.handBack({ dueAt: Math.min(lookAgainAt, graceEndsAt) }, null);
}

/** @returns as {@link call} */
async function answered(step: JobStep, outcome: Completed | Accepted): Promise<Completed | null> {
  await step.noteSuccess();
  if (outcome.state === "completed") {
    // What lies behind links is not made again when its copying takes more than one try, or more than one worker.
    const handle = deliveredHandle(outcome);
    if (handle !== null) await step.writes.note({ phase: "rendering", handle }, made(step, outcome));
    // Made twice, at the worst, it costs nothing more where a repeated call makes nothing new.
    else if (!step.working.capabilities.idempotentSubmit) await step.writes.note({}, made(step, outcome));
    if (handle !== null || step.working.capabilities.idempotentSubmit) return outcome;
    await step.complete(outcome, false);
    return null;
  }
  const dueAt = step.inMs(Math.max(POLL_MIN_MS, outcome.nextPollMs));
  const cost = step.working.expectedCost(step.job);
  const attempt = { number: step.attempt, outcome: "accepted", message: null, cost, billable: "unknown" } as const;
  const changes = { phase: "rendering", handle: outcome.handle, dueAt } as const;
  try {
    if (step.hasCallbacks) await step.writes.handBackReported(changes, attempt, []);
    else await step.handBack(changes, attempt);
  } catch (error) {
    if (error instanceof WorkAbandoned) await step.writes.noteOrphan(outcome.handle, attempt);
    throw error;
  }
  return null;
}

/** The attempt went well, whatever becomes of its files. */
function made(step: JobStep, outcome: Completed): AttemptResult {
  return { number: step.attempt, outcome: "completed", message: null, cost: outcome.cost ?? step.working.expectedCost(step.job), billable: "yes" };
}

/** The process stops between the announcement and the call: nothing was sent. */
async function stoppedBefore(step: JobStep): Promise<void> {
  step.checkNotAborted();
  const notCalled = step.resultOf(new ProviderFailure("unavailable", "The process stopped before the call was made.", { billable: "no" }));
  await step.handBack({ ...notAccepted(step), dueAt: step.parts.clock.now() }, notCalled);
}

/** How a job goes back whose attempt was surely not accepted: to whoever comes next, unless an attempt before may have been. */
function notAccepted(step: JobStep): JobChanges {
  return step.mayBeAccepted ? {} : { status: "queued", phase: "waiting" };
}

async function failed(step: JobStep, error: unknown): Promise<void> {
  const { job, parts, working } = step;
  // A call broken off by our own stop says nothing about the provider.
  if (step.signal.aborted) {
    return step.handBackAborted(step.resultOf(new ProviderFailure("outcome_unknown", "The process stopped.", { cause: error })));
  }
  const failure = ProviderFailure.is(error)
    ? error
    : new ProviderFailure("outcome_unknown", "The plugin failed without saying why.", { cause: error });
  const result = step.resultOf(failure);
  parts.logger.warn("A submission failed", { error: failure, kind: failure.kind, job_id: job.id, attempt: step.attempt });

  if (failure.kind === "outcome_unknown") {
    await step.noteFailure();
    const again = working.capabilities.idempotentSubmit || working.capabilities.lookup;
    const dueAt = step.inMs(again ? step.jittered(parts.retry.backoffMs) : parts.unknownGraceMs);
    return step.handBack({ dueAt, crashes: job.crashes + (again ? 1 : 0) }, result);
  }
  if (!isRetryable(failure.kind)) {
    await step.noteSuccess();
    return step.fail(jobErrorOf(failure.kind), result);
  }
  if (failure.kind === "rate_limited") return waitForRoom(step, failure);
  if (needsOperator(failure.kind)) await step.noteBroken(failure);
  else await step.noteFailure();
  const refusals = job.refusals + 1;
  const delayMs = retryDelayMs(parts.retry, refusals, failure.retryAfterMs, parts.random.fraction());
  if (!step.mayBeAccepted && (delayMs === null || needsOperator(failure.kind))) {
    const route = await nextRoute(step);
    if (route !== null) return moveTo(step, route, result);
  }
  if (delayMs === null) return step.fail(jobErrorOf(failure.kind), result);
  await step.handBack({ ...notAccepted(step), refusals, dueAt: step.inMs(delayMs) }, result);
}

/** Too many requests say nothing against the provider or the job: it waits, until its deadline if need be. */
async function waitForRoom(step: JobStep, failure: ProviderFailure): Promise<void> {
  const { parts } = step;
  await step.noteSuccess();
  const delayMs = Math.max(backoffMs(parts.retry.backoffMs, step.attempt, parts.random.fraction()), boundedRetryAfterMs(failure.retryAfterMs));
  await step.handBack({ ...notAccepted(step), dueAt: step.inMs(delayMs) }, step.resultOf(failure));
}

/** The next provider that is there; null when there is none. Asked only while the attempt before is surely dead. */
async function nextRoute({ parts, job }: JobStep): Promise<Route | null> {
  const track = await parts.buildRequest.trackOf(job);
  for (const route of parts.routes.routesAfter(job, track)) {
    if ((await parts.availability.state(route.providerId)) !== "open") return route;
  }
  return null;
}

/** Hands the job to another provider, under the reservation it has. */
async function moveTo(step: JobStep, route: Route, attempt: ReturnType<JobStep["resultOf"]> | null): Promise<void> {
  const { parts, job } = step;
  parts.logger.warn("A job goes to a stand-in", { job_id: job.id, from: job.providerId, to: route.providerId });
  await step.handBack({ ...route, status: "queued", phase: "waiting", refusals: 0, handle: null, dueAt: parts.clock.now() }, attempt);
  parts.queue.ring([{ jobId: job.id, providerId: route.providerId }]);
}
