import type { AcceptIdempotency } from "../jobs/decide-acceptance.js";
import type { Job } from "../jobs/job.js";
import type { Digest } from "../ports/digest.js";
import type { StoredResponse } from "../ports/idempotency-store.js";
import { fingerprint } from "./fingerprint.js";

/** What makes a repeated request the same request. */
export interface GivenIdempotency {
  readonly key: string;
  /** Method and path template. */
  readonly route: string;
  /** The body as parsed from JSON, before any default was filled in. */
  readonly body: unknown;
  /** Builds the response that is stored and returned. */
  present(job: Job): StoredResponse;
}

export interface KeptIdempotencyDeps {
  readonly digest: Digest;
  readonly idempotencyTtlMs: number;
}

/** What is kept of a key with the job that a request creates at `now`. */
export function keptIdempotency(
  { digest, idempotencyTtlMs }: KeptIdempotencyDeps,
  { key, route, body, present }: GivenIdempotency,
  now: number,
): AcceptIdempotency {
  return {
    keyHash: digest.sha256(key),
    fingerprint: fingerprint(digest, route, body),
    expiresAt: now + idempotencyTtlMs,
    present,
  };
}
