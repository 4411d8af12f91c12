import type { ErrorCode } from "../error-codes.js";
import type { AccountId, JobId, RequestId } from "../ids.js";
import type { JobKind } from "../jobs/job.js";

/**
 * An authenticated request and its response. It holds no query, no body and no secret. @see decisions, "Usage, logs"
 */
export interface LoggedRequest {
  readonly id: RequestId;
  readonly accountId: AccountId;
  readonly method: string;
  /** Without query, at most {@link PATH_MAX_LENGTH} characters. */
  readonly path: string;
  /** The path's template, `/api/v1/generations/{id}`. */
  readonly route: string;
  /** 499 when the client closed the connection before the response. */
  readonly status: number;
  readonly errorCode: ErrorCode | null;
  /** Bytes of the body; null when there was none, or it is unknown. */
  readonly requestBytes: number | null;
  readonly responseBytes: number | null;
  /** The job that the request created, replayed or read. */
  readonly jobId: JobId | null;
  /** Label of the calling integration. */
  readonly client: string | null;
  /** When it arrived; the first of them. */
  readonly createdAt: number;
  /** How many requests the row stands for: more than 1 only where a rate limit refused them (status 429). */
  readonly count: number;
}

/** How long requests are kept, and how far back an account sees. */
export const LOG_KEPT_MS = 30 * 86_400_000;

/** Longer paths are cut: no endpoint has one. */
export const PATH_MAX_LENGTH = 255;

/**
 * What makes credits move, and by which jobs: a POST to one of these routes draws on the generation limit.
 *
 * @see API v1, section 1, rules 2 and 3
 */
export const CREDITS_ROUTES: Readonly<Record<string, JobKind>> = {
  "/api/v1/generations": "music",
  "/api/v1/tracks/{id}/stems": "stem_split",
  "/api/v1/tracks/{id}/vocal-removal": "vocal_removal",
};

/** The status of a request that created a job while its row is missing (not yet written, or dropped). */
export const ACCEPTED_STATUS = 202;

/**
 * A request that created a job has {@link ACCEPTED_STATUS}, or this status and above: its client disconnected, or its
 * response failed.
 */
export const LATE_FAILURE_STATUS = 499;

/** From this status on a request counts as failed. */
export const FAILED_STATUS = 400;
