import type { JobError, JobRequest } from "./job.js";

/** What is left of a request once its account is erased: how much was asked for, and nothing of what. */
export function erasedRequest({ durationSeconds, instrumental }: JobRequest): JobRequest {
  return {
    ...{ prompt: "", lyrics: null, client: null, metadata: null, options: {}, sourceTrackId: null, sourceUse: null },
    durationSeconds,
    instrumental,
  };
}

/** What is left of it once the tracks that it led to are deleted: none of its words. */
export function wordlessRequest(request: JobRequest): JobRequest {
  return { ...request, prompt: "", lyrics: null, metadata: null, options: {} };
}

/** Why it failed stays; what the provider said of it does not. */
export function erasedError(error: JobError | null): JobError | null {
  return error === null ? null : { ...error, message: "The account was deleted." };
}
