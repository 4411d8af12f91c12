import type { ShownGeneration } from "../../../core/generations/read-generations.js";
import { costOf, type Job, type JobSummary } from "../../../core/jobs/job.js";
import type { Track as LibraryTrack } from "../../../core/library/track.js";
import type { JobStatus } from "./job-status.js";
import { type ErrorBody, toErrorBody } from "./error.js";
import { timestamp } from "./time.js";
import { presentTrack, type Track, type TrackLinks } from "./track.js";

/** A generation as the response to its creation shows it. */
export interface AcceptedGeneration {
  /** The id of the generation, and of its job. */
  id: string;
  status: JobStatus;
  model_id: string;
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
  /**
   * Only in a response that waited until the generation completed, where the API key may read generations. A replay
   * holds the links of the first response, which expire like any.
   */
  tracks?: Track[];
}

export interface Generation {
  id: string;
  status: JobStatus;
  model_id: string;
  /**
   * What it costs the account as of now; 0 once refunded.
   * @isInt
   */
  credits_charged: number;
  /** Options of the model, as they were given; left out where none were. */
  options?: { [name: string]: string | number | boolean };
  /** The track that it works from; left out where there is none. */
  reference?: GivenReference;
  /** @format date-time */
  created_at: string;
  /**
   * When it ended.
   * @format date-time
   */
  completed_at: string | null;
  /** Why it failed; present for failed generations, and the same as at their jobs. */
  error?: ErrorBody;
  /** Empty until it completed. */
  tracks: Track[];
}

export function statusUrlOf(job: Pick<Job, "id">, publicUrl: string): string {
  return `${publicUrl}/api/v1/generations/${job.id}`;
}

/** @param tracks undefined: the response does not have them */
export function presentAccepted(
  job: Job,
  publicUrl: string,
  tracks: readonly LibraryTrack[] | undefined,
  links: TrackLinks,
): AcceptedGeneration {
  return {
    id: job.id,
    status: job.status,
    model_id: job.modelId,
    credits_reserved: costOf(job),
    created_at: timestamp(job.createdAt),
    status_url: statusUrlOf(job, publicUrl),
    ...(tracks === undefined ? {} : { tracks: tracks.map((track) => presentTrack(track, links)) }),
  };
}

/** Only requests with options have the member, so that responses to others keep the form of before options existed. */
export function presentGivenOptions({
  request: { options },
}: Pick<JobSummary, "request">): Pick<Generation, "options"> {
  return Object.keys(options).length === 0 ? {} : { options };
}

/**
 * Only failed jobs have the member. A job of an embedding app has no request behind it; then its own id is what support
 * can look for.
 */
export function presentFailure({
  id,
  requestId,
  status,
  error,
}: Pick<Job, "id" | "requestId" | "status" | "error">): Pick<Generation, "error"> {
  return status === "failed" && error !== null ? { error: toErrorBody(error, requestId ?? id) } : {};
}

/** The track that a generation works from, as it was given. */
export interface GivenReference {
  track_id: string;
  mode: "extend" | "cover" | "inpaint";
  /** Seconds. */
  from?: number;
  /** Seconds. */
  to?: number;
  strength?: number;
}

export function presentGivenReference({ request }: Pick<JobSummary, "request">): Pick<Generation, "reference"> {
  const { sourceTrackId, sourceUse: use } = request;
  if (sourceTrackId === null || use === null) return {};
  return {
    reference: {
      track_id: sourceTrackId,
      mode: use.mode,
      ...(use.fromSeconds === null ? {} : { from: use.fromSeconds }),
      ...(use.toSeconds === null ? {} : { to: use.toSeconds }),
      ...(use.strength === null ? {} : { strength: use.strength }),
    },
  };
}

export function presentGeneration({ job, tracks }: ShownGeneration, links: TrackLinks): Generation {
  return {
    id: job.id,
    status: job.status,
    model_id: job.modelId,
    credits_charged: job.creditsCharged,
    ...presentGivenOptions(job),
    ...presentGivenReference(job),
    created_at: timestamp(job.createdAt),
    completed_at: job.completedAt === null ? null : timestamp(job.completedAt),
    ...presentFailure(job),
    tracks: tracks.map((track) => presentTrack(track, links)),
  };
}
