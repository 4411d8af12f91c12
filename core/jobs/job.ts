import { assert } from "../assert.js";
import type { Buckets } from "../credits/balance.js";
import type { ErrorCode } from "../errors.js";
import type { AccountId, AttemptId, JobId, ProcessId, RequestId, TrackId } from "../ids.js";
import type { Billable, ProviderCost, ProviderFailureKind, ProviderHandle } from "../ports/music-provider.js";

/** What everybody sees of a job's state. `completed` and `failed` are final. */
export type JobStatus = "queued" | "processing" | "completed" | "failed";

/**
 * What is known of the provider's side, finer than the status:
 * - `waiting`: nothing is submitted (status queued; processing while a worker prepares the call)
 * - `submitting`: a call was announced in `job_attempts`; its outcome is not known
 * - `rendering`: the provider accepted; its handle is stored
 * - `ended`: settled
 */
export type JobPhase = "waiting" | "submitting" | "rendering" | "ended";

/** A job's kind; `music` is a generation, the others take a track apart. */
export type JobKind = "music" | "stem_split" | "vocal_removal";

export type SplitKind = Exclude<JobKind, "music">;

/** What the caller asked for, kept whole. */
export interface JobRequest {
  /** Empty for a split. */
  readonly prompt: string;
  readonly lyrics: string | null;
  readonly durationSeconds: number | null;
  readonly instrumental: boolean;
  readonly client: string | null;
  readonly metadata: { readonly [key: string]: unknown } | null;
  /** The track to take apart; null for a generation. */
  readonly sourceTrackId: TrackId | null;
}

/** Why a job failed, as its `error` shows it. */
export interface JobError {
  readonly code: Extract<ErrorCode, "generation_failed" | "provider_unavailable" | "provider_timeout" | "invalid_request">;
  readonly message: string;
  readonly details?: { readonly reason: string };
}

export interface Job {
  readonly id: JobId;
  readonly accountId: AccountId;
  readonly kind: JobKind;
  /** `music_<provider>_full`, `stem_split`, `vocal_removal`. */
  readonly operation: string;
  /** Who does it, or is to do it next; a stand-in once the one before had surely not taken it. */
  readonly providerId: string;
  /** As the caller named it; `stem_split` or `vocal_removal` for a split. */
  readonly modelId: string;
  /** The model of `providerId` that does it: `modelId`, or a stand-in; null for a split. */
  readonly servedModelId: string | null;
  readonly request: JobRequest;
  /** What the account calls it, unique in the account; null for a generation, and for a split without one. */
  readonly reference: string | null;
  /** The API request that made it; null when an embedding app or the command line did. */
  readonly requestId: RequestId | null;
  /** When that request arrived; null without one. */
  readonly requestedAt: number | null;
  /** Where its credits came from; their sum is what the job costs. */
  readonly reserved: Buckets;
  /** What the job costs the account as of now: reserved, then charged, or 0 once refunded. */
  readonly creditsCharged: number;
  readonly status: JobStatus;
  readonly phase: JobPhase;
  /** Submissions announced so far, lost ones included. */
  readonly attempt: number;
  /** Attempts that the provider refused for now; they draw on `jobs.maxAttempts`. */
  readonly refusals: number;
  /** Times a worker was lost or stumbled over this job. */
  readonly crashes: number;
  /** Raised by every claim; a write under an older fence changes nothing. */
  readonly fence: number;
  /** The process that works on it; null when nobody does. */
  readonly leaseOwner: ProcessId | null;
  /**
   * From when on anybody may claim it. While a lease is held this is the lease's end; null once ended.
   */
  readonly dueAt: number | null;
  readonly handle: ProviderHandle | null;
  readonly error: JobError | null;
  /** Since when the provider is to be told that nobody waits for this job any more; null when it need not be, or was. */
  readonly cancelDueAt: number | null;
  readonly createdAt: number;
  /** When it ended, completed or failed. */
  readonly completedAt: number | null;
}

/** One try at the provider, written before the call. */
export interface JobAttempt {
  readonly id: AttemptId;
  readonly jobId: JobId;
  /** Counts from 1. */
  readonly number: number;
  readonly providerId: string;
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** null while running, or when the worker was lost before it could write what came back. */
  readonly outcome: "accepted" | "completed" | ProviderFailureKind | null;
  /** The provider's words, for operators. */
  readonly message: string | null;
  /** What it cost there: as the provider told, or else as the model is expected to. */
  readonly cost: ProviderCost | null;
  /** Whether that was billed; null while that is not known yet. */
  readonly billable: Billable | null;
}

/** A file that a split made. */
export interface JobOutput {
  /** `vocals`, `instrumental`, `drums`, …: lower case. */
  readonly label: string;
  readonly audioKey: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly durationSeconds: number | null;
}

const MOVES: Readonly<Record<JobStatus, readonly JobStatus[]>> = {
  queued: ["processing", "failed"],
  processing: ["completed", "failed", "queued"],
  completed: [],
  failed: [],
};

export function isFinal(status: JobStatus): boolean {
  return MOVES[status].length === 0;
}

/** Guards the allowed moves. `processing` returns to `queued` only while nothing is submitted. */
export function assertMove(job: Pick<Job, "status" | "phase">, to: JobStatus): void {
  assert(MOVES[job.status].includes(to), `a job moves from ${job.status} only to ${MOVES[job.status].join(", ")}`);
  assert(to !== "queued" || job.phase !== "rendering", "a submitted job is never queued again");
}

export function costOf(job: Pick<Job, "reserved">): number {
  return job.reserved.monthly + job.reserved.pack;
}
