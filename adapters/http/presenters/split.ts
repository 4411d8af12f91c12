import type { JobId } from "../../../core/ids.js";
import { costOf, type Job } from "../../../core/jobs/job.js";
import type { JobStatus } from "./job-status.js";
import { timestamp } from "./time.js";

/** A split as the response to its creation shows it. */
export interface AcceptedSplit {
  job_id: string;
  operation: "stem_split" | "vocal_removal";
  status: JobStatus;
  /** The track that is split. */
  track_id: string;
  /**
   * Credits taken out of the balance until the job ends.
   * @isInt
   */
  credits_reserved: number;
  /** @format date-time */
  created_at: string;
  /**
   * Where to poll.
   * @format uri
   */
  status_url: string;
}

export function jobUrlOf(id: JobId, publicUrl: string): string {
  return `${publicUrl}/api/v1/jobs/${id}`;
}

export function presentAcceptedSplit(job: Job, publicUrl: string): AcceptedSplit {
  return {
    job_id: job.id,
    operation: job.kind === "vocal_removal" ? "vocal_removal" : "stem_split",
    status: job.status,
    track_id: job.request.sourceTrackId ?? "",
    credits_reserved: costOf(job),
    created_at: timestamp(job.createdAt),
    status_url: jobUrlOf(job.id, publicUrl),
  };
}
