import { type Accepted, type Completed, ProviderFailure, type SubmitRequest } from "../ports/music-provider.js";
import { healthIdOf } from "../providers/circuit-breaker.js";
import type { Route } from "../providers/routes.js";
import { isOpen } from "../attempts/attempt-states.js";
import type { Applied } from "../attempts/report-groups.js";
import { OBEY_MS } from "./call-plugin.js";
import type { JobStep } from "./job-step.js";
import { failureOfCall } from "./plugin-crash.js";
import { isLasting, isRetryable, needsOperator } from "../attempts/retry-policy.js";
import { storeAndSettle } from "./store-and-settle.js";
import { storableResult } from "../results/stored-result.js";
import { plainCallLimit } from "./working-provider.js";

/** How long a job waits before it is checked again whether its provider, or a fallback, is available. */
const PROVIDER_DOWN_RETRY_MS = 10_000;

/**
 * The provider is called within this time of its intent, or not at all: so it is known when the call has surely ended.
 */
const BEGIN_MAX_MS = 10_000;

const TOO_LATE = "The provider was not called: recording the intent took too long.";
const LEASE_OVER = "The provider was not called: the lease had run out before.";
const STOPPING = "The provider was not called: the process stops.";

/** Records the intent, calls the provider, and reports what came of it. */
export async function submit(step: JobStep): Promise<void> {
  const { deps, working } = step;
  if (!step.attempts.some(isOpen) && !(await isAvailable(step))) return providerDown(step);
  const [attemptId, number] = [deps.ids.next("att"), step.job.attempt + 1];
  let request;
  try {
    request = await deps.buildRequest.build(await step.wholeJob(), working.capabilities, attemptId, number);
  } catch (error) {
    if (!isLasting(error)) throw error;
    deps.logger.warn("A job's request could not be made for its provider", { error, provider: working.id });
    return discardWhenEnded(step, await step.report({ type: "unbuildable", failure: error }));
  }
  if (step.signal.aborted) return step.release(0);
  const usualRenderMs = await usualRender(step);
  const beginsBy = deps.clock.now() + BEGIN_MAX_MS;
  const limitMs = sendsSource(request) ? working.callLimitMs : plainCallLimit(working);
  const callEndsAt = beginsBy + limitMs + OBEY_MS;
  const intended = await step.report({ type: "intended", attemptId, number, callEndsAt, usualRenderMs });
  if (intended.next !== "continue") return discardWhenEnded(step, intended);
  if (deps.clock.now() > beginsBy) return notCalled(step, number, TOO_LATE);
  // Another worker may have looked for the attempt already, and found nothing.
  const leaseEndsAt = intended.job?.dueAt ?? 0;
  if (deps.clock.now() >= leaseEndsAt) return notCalled(step, number, LEASE_OVER);
  const isRepeatable = working.capabilities.idempotentSubmit;
  if (step.signal.aborted || !(isRepeatable || step.lease.mayBeginUnrepeatable))
    return notCalled(step, number, STOPPING);
  const call = (): Promise<Fetchable | null> => callProvider(step, number, request, limitMs);
  const fetchable = await (isRepeatable
    ? call()
    : step.lease.unrepeatable({ kind: "submission", providerId: working.id }, call));
  if (fetchable !== null) await storeAndSettle(step, number, fetchable.created, fetchable.again);
}

/** A result that is not stored yet, and can be fetched again when this worker is aborted. */
interface Fetchable {
  readonly created: Completed;
  readonly again: "link" | "provider";
}

function sendsSource(request: SubmitRequest): boolean {
  return request.operation !== "music" || request.reference !== undefined;
}

async function callProvider(
  step: JobStep,
  number: number,
  request: SubmitRequest,
  limitMs: number,
): Promise<Fetchable | null> {
  let outcome: Completed | Accepted;
  try {
    outcome = await step.call("submit", (context) => step.working.provider.submit(request, context), {
      limitMs,
      onLate: (late) => void reportLate(step, number, late),
    });
  } catch (error) {
    await submissionFailed(step, number, error);
    return null;
  }
  return submitted(step, number, outcome);
}

/** What a call returns that had been left alone: it moves its attempt like any other word of it. */
async function reportLate(step: JobStep, number: number, late: Completed | Accepted): Promise<void> {
  try {
    step.deps.logger.warn("A provider took a submission after the plugin's call had been left alone", {
      attempt: number,
    });
    await submitted(step, number, late);
  } catch (error) {
    step.deps.logger.error("A late word of a submission could not be written", {
      error,
      attempt: number,
    });
  }
}

/**
 * The provider took the submission, as its reply or a look-up says.
 *
 * @returns a result that is not stored yet and can be fetched again; null when there is none
 */
export async function submitted(
  step: JobStep,
  number: number,
  outcome: Completed | Accepted,
): Promise<Fetchable | null> {
  await step.noteOffered();
  if (outcome.state === "accepted") {
    await step.report({ type: "accepted", number, handle: outcome.handle, nextPollMs: outcome.nextPollMs });
    return null;
  }
  const result = storableResult(outcome);
  const { idempotentSubmit, lookup } = step.working.capabilities;
  // Submitted again, or looked up, at the worst: neither makes anything new there.
  if (result === null && (idempotentSubmit || lookup)) return { created: outcome, again: "provider" };
  const { next } = await step.reportFinished({ number, result, cost: outcome.cost ?? null });
  if (next !== "continue") return null;
  if (result !== null) return step.holdsLease ? { created: outcome, again: "link" } : null;
  await step.lease.unrepeatable({ kind: "result", providerId: step.working.id }, () =>
    storeAndSettle(step, number, outcome, "nowhere"),
  );
  return null;
}

async function usualRender({ deps, job, working }: JobStep): Promise<number | null> {
  return job.servedModelId === null ? null : deps.renderTimes.usualMs(working.id, job.servedModelId);
}

async function notCalled(step: JobStep, number: number, message: string): Promise<void> {
  await step.report({ type: "not_called", number, message });
}

/** Whether work may go to the provider, and to the model: one that it had not got is tried by one job at a time. */
async function isAvailable({ deps, working, route }: JobStep): Promise<boolean> {
  const { availability } = deps;
  const state = await availability.state(working.id);
  if (state === "open") return false;
  const id = healthIdOf(route);
  const own = await availability.state(id);
  if (own === "closed" || (own === "half_open" && (await availability.takeTrial(id)))) return true;
  // The job does not show whether the provider is back: another job may try.
  if (state === "half_open") await availability.returnTrial(working.id);
  return false;
}

async function providerDown(step: JobStep): Promise<void> {
  const route = await nextRoute(step);
  if (route === null) return step.release(step.jittered(PROVIDER_DOWN_RETRY_MS));
  step.deps.logger.warn("A job goes to a fallback", {
    from: step.job.providerId,
    to: route.providerId,
  });
  await step.report({ type: "moved", route });
}

async function submissionFailed(step: JobStep, number: number, error: unknown): Promise<void> {
  const { deps } = step;
  // A call that our own stop aborted says nothing about the provider.
  if (step.signal.aborted) {
    const failure = new ProviderFailure(
      "outcome_unknown",
      "The call was aborted: the process stops, or the lease was lost.",
      { cause: error },
    );
    return step.reportAborted({ type: "submission_failed", number, failure, fallback: null, isAborted: true });
  }
  const failure = failureOfCall(step.working, "submit", "outcome_unknown", error);
  deps.logger.warn("A submission failed", { error: failure, kind: failure.kind, attempt: number });
  await noteHealth(step, failure);
  const fallback = isRetryable(failure.kind) && failure.kind !== "rate_limited" ? await fallbackOf(step) : null;
  const applied = await step.report({ type: "submission_failed", number, failure, fallback, isAborted: false });
  if (applied.job?.providerId !== step.working.id && applied.ended === null) {
    deps.logger.warn("A job goes to a fallback", {
      from: step.working.id,
      to: applied.job?.providerId,
    });
  }
  await discardWhenEnded(step, applied);
}

/** Too many requests, and a refusal of this very request, say nothing against the provider. */
async function noteHealth(step: JobStep, failure: ProviderFailure): Promise<void> {
  if (failure.kind === "outcome_unknown") return step.noteFailure();
  if (failure.kind === "rate_limited") return step.noteSuccess();
  if (!isRetryable(failure.kind)) return step.noteOffered();
  if (failure.kind === "model_unavailable") return step.noteNotOffered(failure);
  return needsOperator(failure.kind) ? step.noteBroken(failure) : step.noteFailure();
}

/** As {@link nextRoute}; what the provider said is reported also while no fallback can be looked for. */
export async function fallbackOf(step: JobStep): Promise<Route | null> {
  try {
    return await nextRoute(step);
  } catch (error) {
    step.deps.logger.warn("A fallback could not be looked for", { error });
    return null;
  }
}

/** The next provider that is available; null when there is none. */
async function nextRoute(step: JobStep): Promise<Route | null> {
  const { routes, availability, buildRequest } = step.deps;
  const job = await step.wholeJob();
  for (const route of routes.routesAfter(job, await buildRequest.trackOf(job))) {
    if (await availability.isOffered(route)) return route;
  }
  return null;
}

/** A job that failed leaves no files. */
export async function discardWhenEnded(step: JobStep, { ended }: Applied): Promise<void> {
  if (ended?.job.status === "failed") await step.deps.storeFiles.discardAll(step.job.id);
}
