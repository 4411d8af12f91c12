import type { LogFields } from "../ports/logger.js";
import type { JobState } from "./job.js";

/** What every log line of a job carries: its id, and that of the API request that created it. */
export function logIdsOf({ id, requestId }: Pick<JobState, "id" | "requestId">): LogFields {
  return { job_id: id, ...(requestId === null ? {} : { request_id: requestId }) };
}
