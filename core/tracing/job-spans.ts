import { costOf, type JobAttempt, type JobState } from "../jobs/job.js";
import type { SpanAttributes, SpanDescription, TraceContext, Tracer } from "../ports/tracer.js";
import { traceIdOf } from "./trace-context.js";

/**
 * A job in the words of OpenTelemetry's messaging: a message of its own queue, which the jobs' table is. Each step is a
 * part of the trace that created it, not of one that is only linked with that: a job is one message, processed alone.
 */
export function jobMessage(operation: "create" | "process"): SpanAttributes {
  return {
    "messaging.system": "fermata",
    "messaging.destination.name": "jobs",
    "messaging.operation.name": operation,
    "messaging.operation.type": operation,
  };
}

/** What one worker does with a job between a claim and the release: a call of the provider, and what comes of it. */
export function processJob(job: JobState, trace: TraceContext): SpanDescription {
  const { id, phase, providerId, servedModelId, attempt } = job;
  return {
    name: "process job",
    kind: "consumer",
    parent: trace,
    attributes: {
      ...jobMessage("process"),
      "messaging.message.id": id,
      "fermata.job.phase": phase,
      "fermata.job.attempt": attempt,
      "fermata.provider": providerId,
      "fermata.model": servedModelId,
    },
  };
}

/**
 * The spans of what no process saw from its start to its end: the wait, and the attempts. Then that of the settlement,
 * which is a part of the step that led to it, or of the job where none did.
 *
 * @param startedAt when the report was made that ended the job
 */
export function traceEnd(tracer: Tracer, job: JobState, attempts: readonly JobAttempt[], startedAt: number): void {
  const { trace, createdAt, status, error, creditsCharged } = job;
  if (trace === null) return;
  const endedAt = job.completedAt ?? startedAt;
  const begunAt = attempts[0]?.startedAt ?? endedAt;
  tracer.start({ name: "wait in queue", parent: trace, startedAt: createdAt }).end(begunAt);
  for (const attempt of attempts) traceAttempt(tracer, attempt, trace, endedAt);
  const running = tracer.current();
  const isStep = running !== null && traceIdOf(running) === traceIdOf(trace);
  const charged = {
    "fermata.credits.charged": creditsCharged,
    "fermata.credits.refunded": costOf(job) - creditsCharged,
  };
  const span = tracer.start({
    name: "settle job",
    parent: isStep ? running : trace,
    startedAt,
    attributes: { "messaging.message.id": job.id, "fermata.job.status": status, ...charged },
  });
  if (error !== null) span.fail(error.code);
  span.end();
}

function traceAttempt(tracer: Tracer, attempt: JobAttempt, parent: TraceContext, jobEndedAt: number): void {
  const { number, providerId, modelId, state, loss, outcome, startedAt, endedAt } = attempt;
  const span = tracer.start({
    name: "attempt",
    parent,
    startedAt,
    attributes: {
      "fermata.attempt.number": number,
      "fermata.attempt.state": state,
      "fermata.provider": providerId,
      "fermata.model": modelId,
    },
  });
  if (state !== "settled") span.fail(loss ?? outcome ?? state);
  span.end(endedAt ?? jobEndedAt);
}
