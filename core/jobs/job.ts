import { assert } from "../assert.js";
import type { Buckets } from "../credits/balance.js";
import type { ErrorCode } from "../error-codes.js";
import type { AccountId, AttemptId, JobId, ProcessId, RequestId, TrackId } from "../ids.js";
import type { NewTrack } from "../library/lyrics.js";
import type {
  Billable,
  Completed,
  OptionValues,
  ProviderCost,
  ProviderFailureKind,
  ProviderHandle,
  ReferenceMode,
} from "../ports/music-provider.js";
import type { TraceContext } from "../ports/tracer.js";

/** What callers see of a job's state. `completed` and `failed` are final. */
export type JobStatus = "queued" | "processing" | "completed" | "failed";

/**
 * What is known of the provider's side, finer than the status. It follows from the states of the job's attempts:
 * - `waiting`: no attempt is open, so nothing is bought (status queued; processing while a worker prepares a call)
 * - `submitting`: an attempt is intended, or its outcome is unknown
 * - `rendering`: an attempt was accepted, finished, or its files are stored
 * - `ended`: settled
 */
export type JobPhase = "waiting" | "submitting" | "rendering" | "ended";

/** A job's kind; `music` is a generation, the others split a track. */
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
  /** Options of the model, as given; empty for a split. */
  readonly options: OptionValues;
  /** The track to split, or that a generation works from; null for a generation from none. */
  readonly sourceTrackId: TrackId | null;
  /** How a generation uses that track; null for a split, and for a generation from none. */
  readonly sourceUse: SourceUse | null;
}

export interface SourceUse {
  readonly mode: ReferenceMode;
  readonly fromSeconds: number | null;
  readonly toSeconds: number | null;
  readonly strength: number | null;
}

/** Why a job failed, as its `error` shows it. */
export interface JobError {
  readonly code: Extract<
    ErrorCode,
    "generation_failed" | "provider_unavailable" | "provider_timeout" | "invalid_request"
  >;
  readonly message: string;
  readonly details?: { readonly reason: string };
}

/** A job without what its caller asked for, which is long and never changes. */
export interface JobState {
  readonly id: JobId;
  readonly accountId: AccountId;
  readonly kind: JobKind;
  /** `music_<provider>_full`, `stem_split`, `vocal_removal`. */
  readonly operation: string;
  /** Who does it, or is to do it next; a fallback once the one before had surely not taken it. */
  readonly providerId: string;
  /** As the caller named it; `stem_split` or `vocal_removal` for a split. */
  readonly modelId: string;
  /** The model of `providerId` that does it: `modelId`, or a fallback; null for a split. */
  readonly servedModelId: string | null;
  /** What the account calls it, unique in the account; null for a generation, and for a split without one. */
  readonly reference: string | null;
  /** The API request that created it; null when an embedding app or the command line did. */
  readonly requestId: RequestId | null;
  /** When that request arrived; null without one. */
  readonly requestedAt: number | null;
  /** What all that is done for it is traced as a part of; null: it was accepted without tracing. */
  readonly trace: TraceContext | null;
  /** Where its credits came from; their sum is what the job costs. */
  readonly reserved: Buckets;
  /** What the job costs the account as of now: reserved, then charged, or 0 once refunded. */
  readonly creditsCharged: number;
  readonly status: JobStatus;
  readonly phase: JobPhase;
  /** Attempts so far, lost ones included. */
  readonly attempt: number;
  /** Attempts that the provider refused for now; they draw on `jobs.maxAttempts`. */
  readonly refusals: number;
  /** Times a worker was lost or failed unexpectedly on this job since it last made progress. */
  readonly crashes: number;
  /**
   * Collections of its files, each with the analysis of its audio, that were begun and have not ended: the one under
   * way, and those whose worker was lost.
   */
  readonly collectionsBegun: number;
  /** Since when it is wanted no more, although it is bought; null: it is wanted, or it ended at once. */
  readonly cancelRequestedAt: number | null;
  /** Raised by every claim; a write under an older fence changes nothing. */
  readonly fence: number;
  /** The process that works on it; null when none does. */
  readonly leaseOwner: ProcessId | null;
  /**
   * From when on any worker may claim it. While a lease is held this is the lease's end; null once ended.
   */
  readonly dueAt: number | null;
  readonly error: JobError | null;
  readonly createdAt: number;
  /** When it ended, completed or failed. */
  readonly completedAt: number | null;
  /** Names the report that ended it, so that one whose reply got lost knows its own work; null while it is alive. */
  readonly endedBy: string | null;
}

export interface Job extends JobState {
  readonly request: JobRequest;
}

/** The part of a request that lists show. */
export type RequestSummary = Pick<JobRequest, "options" | "sourceTrackId" | "sourceUse">;

/** What lists show of a job: not the texts that its caller gave, which are long. */
export interface JobSummary extends Pick<
  JobState,
  | "id"
  | "accountId"
  | "kind"
  | "modelId"
  | "requestId"
  | "status"
  | "creditsCharged"
  | "createdAt"
  | "completedAt"
  | "error"
> {
  readonly request: RequestSummary;
}

/**
 * A purchase at a provider, from the intent to its end:
 * - `intended`: recorded before the provider is called
 * - `unknown`: called, and what came of it is not known
 * - `accepted`: the provider has it; `handle` asks for it
 * - `finished`: the provider's result is known, and kept in `result` where it is behind links
 * - `stored`: the files are ours, and the job could not be settled yet
 * - `settled`: the job completed with it
 * - `refused`: surely not accepted
 * - `failed`: the provider ended it, or its result could not be fetched
 * - `abandoned`: given up by us: cancelled upstream, or its time is over
 */
export type AttemptState =
  | "intended"
  | "unknown"
  | "accepted"
  | "finished"
  | "stored"
  | "settled"
  | "refused"
  | "failed"
  | "abandoned";

/** Why an attempt that was bought, or may have been, has no result. */
export type AttemptLoss =
  /** The job was cancelled. */
  | "cancelled"
  /** The time for rendering was over. */
  | "deadline"
  /** The provider accepted it when the job had ended, or another attempt was under way. */
  | "late"
  /** The provider ended it without a result. */
  | "provider_failed"
  /** The provider created it, but its files could not be fetched. */
  | "files_lost"
  /** Workers were lost on it again and again. */
  | "crashed"
  /** What came of the call was never known. */
  | "unknown";

/** How far a provider last said that accepted work is. */
export interface AttemptProgress {
  /** Whole, from 0 to 100; null when the provider did not say. */
  readonly percent: number | null;
  /** How many works are before it in the provider's queue; null when the provider did not say. */
  readonly queuePosition: number | null;
  /** When that was first heard. */
  readonly at: number;
}

/** One purchase at a provider. */
export interface JobAttempt {
  readonly id: AttemptId;
  readonly jobId: JobId;
  /** Counts from 1. */
  readonly number: number;
  readonly providerId: string;
  /** The model that was asked for there; null for a split. */
  readonly modelId: string | null;
  readonly state: AttemptState;
  /** Asks the provider for it: set once accepted. */
  readonly handle: ProviderHandle | null;
  /** The provider's result, where it is behind links that need no key; null when it must be polled again. */
  readonly result: Completed | null;
  /** The last that the provider said of it while it rendered; null when it said nothing. */
  readonly progress: AttemptProgress | null;
  /** What is stored of it here, while the job could not be settled with it; null otherwise. */
  readonly files: StoredFiles | null;
  readonly startedAt: number;
  /** When the call has certainly ended, even if the plugin hangs; null in rows of before it was recorded. */
  readonly callEndsAt: number | null;
  /** Since when the provider is known to have accepted it. */
  readonly acceptedAt: number | null;
  /** Since when the provider's result is known. */
  readonly finishedAt: number | null;
  /** When an open attempt is given up; null once closed. */
  readonly deadlineAt: number | null;
  /** When it was first noticed that the deadline is over; the provider is asked for a while longer. */
  readonly overdueSince: number | null;
  /**
   * Since when the provider says that paid work has ended without a result; it is asked again before that is believed.
   */
  readonly endReportedAt: number | null;
  /** Since when the provider is to be asked to cancel it; null when it need not be, or was. */
  readonly cancelDueAt: number | null;
  readonly endedAt: number | null;
  /** The last word about it; null while none came, or when the worker was lost before it could be written. */
  readonly outcome: "accepted" | "completed" | ProviderFailureKind | null;
  /** The provider's words, for operators. */
  readonly message: string | null;
  /** What it cost there: as the provider reported, or else as the model is expected to. */
  readonly cost: ProviderCost | null;
  /** Whether that was billed; null while that is not known yet. */
  readonly billable: Billable | null;
  readonly loss: AttemptLoss | null;
}

/** What a job has in the AudioStore: what it is settled with. */
export interface StoredFiles {
  /** None for a split. */
  readonly tracks: readonly NewTrack[];
  /** None for a generation. */
  readonly outputs: readonly JobOutput[];
  /** Files that could not be fetched, with the reason, for operators; empty when all were stored. */
  readonly missing: readonly string[];
}

/** A file of a split. */
export interface JobOutput {
  /** `vocals`, `instrumental`, `drums`, …: lower case. */
  readonly label: string;
  readonly audioKey: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly durationSeconds: number | null;
}

/** The moves of a job. */
export const JOB_MOVES: Readonly<Record<JobStatus, readonly JobStatus[]>> = {
  queued: ["processing", "failed"],
  processing: ["completed", "failed", "queued"],
  completed: [],
  failed: [],
};

export function isFinal(status: JobStatus): status is "completed" | "failed" {
  return JOB_MOVES[status].length === 0;
}

/** Guards the allowed moves. `processing` returns to `queued` only while nothing is submitted. */
export function assertMove(job: Pick<JobState, "status" | "phase">, to: JobStatus): void {
  const moves = JOB_MOVES[job.status];
  assert(moves.includes(to), `a job moves from ${job.status} only to ${moves.join(", ")}`);
  assert(to !== "queued" || job.phase !== "rendering", "a submitted job is never queued again");
}

export function costOf(job: Pick<JobState, "reserved">): number {
  return job.reserved.monthly + job.reserved.pack;
}
