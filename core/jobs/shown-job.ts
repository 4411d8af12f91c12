import type { Job, JobAttempt } from "./job.js";

/** A job as operators and embedding apps see it: without that by which workers hold it and know their own writes. */
export type ShownJob = Omit<Job, "fence" | "leaseOwner" | "endedBy">;

/** The same of an attempt: without what a plugin finds it by, and what is kept of its result until it is settled. */
export type ShownAttempt = Omit<JobAttempt, "handle" | "result" | "files">;

/** Leaves out of a job what {@link ShownJob} has not. */
export function shownJob({ fence: _fence, leaseOwner: _owner, endedBy: _endedBy, ...shown }: Job): ShownJob {
  return shown;
}

/** Leaves out of an attempt what {@link ShownAttempt} has not. */
export function shownAttempt({ handle: _handle, result: _result, files: _files, ...shown }: JobAttempt): ShownAttempt {
  return shown;
}
