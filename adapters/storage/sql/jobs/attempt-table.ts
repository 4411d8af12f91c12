import type { AttemptId, JobId } from "../../../../core/ids.js";
import type { JobAttempt, StoredFiles } from "../../../../core/jobs/job.js";
import { fromJson, json, plain, type RowOf, table } from "../table.js";

export const JOB_ATTEMPTS = table(
  "job_attempts",
  {
    jobId: plain<JobId>(),
    number: plain<number>(),
    id: plain<AttemptId>(),
    providerId: plain<string>(),
    modelId: plain<string | null>(),
    startedAt: plain<number>(),
    state: plain<JobAttempt["state"]>(),
    callEndsAt: plain<number | null>(),
    acceptedAt: plain<number | null>(),
    finishedAt: plain<number | null>(),
    deadlineAt: plain<number | null>(),
    overdueSince: plain<number | null>(),
    endReportedAt: plain<number | null>(),
    cancelDueAt: plain<number | null>(),
    endedAt: plain<number | null>(),
    outcome: plain<JobAttempt["outcome"]>(),
    message: plain<string | null>(),
    cost: json<JobAttempt["cost"]>(),
    billable: plain<JobAttempt["billable"]>(),
    loss: plain<JobAttempt["loss"]>(),
    handle: json<JobAttempt["handle"]>(),
    result: json<JobAttempt["result"]>(),
    progress: json<JobAttempt["progress"]>(),
    files: { ...json<JobAttempt["files"]>(), fromSql: toFiles },
  },
  ["jobId", "number"],
);
export type AttemptRow = RowOf<typeof JOB_ATTEMPTS>;

/** In JSON the bytes of a waveform are members of an object, by their places. */
function toFiles(stored: string | null): StoredFiles | null {
  const files = fromJson<StoredFiles | null>(stored);
  if (files === null) return null;
  const tracks = files.tracks.map((track) => ({
    ...track,
    waveform: track.waveform === null ? null : Uint8Array.from(Object.values(track.waveform)),
  }));
  return { ...files, tracks };
}
