import type { LogFields } from "../ports/logger.js";
import { traceIdOf } from "../tracing/trace-context.js";
import type { JobState } from "./job.js";

/** What every log line of a job carries: its id, and those of the API request that created it and of its trace. */
export function logIdsOf({ id, requestId, trace }: Pick<JobState, "id" | "requestId" | "trace">): LogFields {
  return {
    job_id: id,
    ...(requestId === null ? {} : { request_id: requestId }),
    ...(trace === null ? {} : { trace_id: traceIdOf(trace) }),
  };
}
