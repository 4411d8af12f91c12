import type { JobOutput as StoredOutput } from "../../../core/jobs/job.js";
import type { JobReport } from "../../../core/jobs/operate-jobs.js";
import { assetOf, type Track } from "../../../core/library/track.js";
import type { ErrorBody } from "./error.js";
import { type GivenReference, presentFailure, presentGivenOptions, presentGivenReference } from "./generation.js";
import type { JobStatus } from "./job-status.js";
import { seconds, timestamp } from "./time.js";
import type { LinkSigner } from "./track.js";

/** A file that a job created. */
export interface JobOutput {
  type: "track" | "stem";
  /** `full`, `vocals`, `instrumental`, `drums`, `bass`, `other`, or the provider's own word. */
  label: string;
  /** The track itself; for a stem the track that was split. */
  track_id: string | null;
  /**
   * Signed; needs no API key and expires.
   * @format uri
   */
  url: string;
  content_type: string;
  /** Seconds, with at most 3 decimals. */
  duration: number | null;
  /** @isInt */
  size_bytes: number | null;
}

export interface Job {
  job_id: string;
  /** `music_<provider>_full`, `stem_split`, `vocal_removal`. */
  operation: string;
  provider: string;
  status: JobStatus;
  /**
   * What it costs the account as of now; 0 once refunded.
   * @isInt
   */
  credits_charged: number;
  /** Options of the model, as they were given; left out where none were. */
  options?: { [name: string]: string | number | boolean };
  /** The track that it works from; left out where there is none. */
  reference?: GivenReference;
  /**
   * True once it was asked to be cancelled although it was bought already: it ends as failed and refunded where its
   * provider confirms that, and otherwise as it would have ended. Left out for all others.
   */
  cancel_requested?: boolean;
  /** Empty until it completed. */
  outputs: JobOutput[];
  /** Present for failed jobs. */
  error?: ErrorBody;
  /** @format date-time */
  created_at: string;
  /**
   * When it ended.
   * @format date-time
   */
  completed_at: string | null;
}

/** What came of a request to cancel a job. */
export interface JobCancellation {
  /**
   * `cancelled`: it ended as failed and is refunded, now or by an earlier request. `running`: it is bought, and its
   * provider has not confirmed that it is cancelled; it runs to its end, and is charged if it completes. `ended`: it
   * had completed or failed before.
   */
  outcome: "cancelled" | "running" | "ended";
  /** As it is now; without its outputs where the API key may not read generations. */
  job: Job;
}

export function presentJob(
  { job, tracks, outputs }: Pick<JobReport, "job" | "tracks" | "outputs">,
  links: LinkSigner,
): Job {
  return {
    job_id: job.id,
    operation: job.operation,
    provider: job.providerId,
    status: job.status,
    credits_charged: job.creditsCharged,
    ...presentGivenOptions(job),
    ...presentGivenReference(job),
    ...(job.cancelRequestedAt === null ? {} : { cancel_requested: true }),
    outputs: [
      ...tracks.flatMap((track) => presentTrackOutputs(track, links)),
      ...outputs.map((output) => presentStem(job, output, links)),
    ],
    ...presentFailure(job),
    created_at: timestamp(job.createdAt),
    completed_at: job.completedAt === null ? null : timestamp(job.completedAt),
  };
}

/** `track_id` is the track that was split. */
function presentStem({ request }: JobReport["job"], output: StoredOutput, links: LinkSigner): JobOutput {
  return {
    type: "stem",
    label: output.label,
    track_id: request.sourceTrackId,
    url: links.sign(output.audioKey),
    content_type: output.contentType,
    duration: seconds(output.durationSeconds),
    size_bytes: output.sizeBytes,
  };
}

/** Stems that a plugin stores with a track are for later splits; the results of a generation are its tracks. */
function presentTrackOutputs(track: Track, links: LinkSigner): JobOutput[] {
  const mix = assetOf(track, "mix");
  if (mix === null) return [];
  return [
    {
      type: "track",
      label: mix.label,
      track_id: track.id,
      url: links.sign(mix.audioKey, { generation: track.linkGeneration }),
      content_type: mix.contentType,
      duration: seconds(mix.durationSeconds),
      size_bytes: mix.sizeBytes,
    },
  ];
}
