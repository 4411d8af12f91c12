const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 8_000;
/** Methods that a server carries out once, however often they come (RFC 9110, section 9.2.2). */
const IDEMPOTENT = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"];

/** Whether a request that may have been carried out can be sent again: never a POST or PATCH without a key. */
export function isRepeatable({ method, headers }: Pick<Request, "method" | "headers">): boolean {
  return IDEMPOTENT.includes(method) || headers.has("Idempotency-Key");
}

/** A response without success, or none at all. */
export type Failure = Pick<Response, "status" | "headers"> | null;

/**
 * How long to wait before the next try.
 *
 * @param failure null: no whole response came
 * @param tried how many tries there were before this one
 * @param random from 0 to 1; waits of many clients spread by it
 * @param now ms since 1970
 * @returns ms; null: the next try would come to the same
 */
export function retryDelay(failure: Failure, tried: number, random: number, now: number): number | null {
  const backoff = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** tried) * (0.5 + random / 2);
  switch (failure?.status) {
    case undefined:
    case 504:
      return backoff;
    case 502:
      // The response to this key is recorded, and would come again.
      return failure?.headers.has("Idempotent-Replayed") === true ? null : backoff;
    case 429:
    case 503:
      return retryAfter(failure?.headers.get("Retry-After") ?? null, now) ?? backoff;
    default:
      return null;
  }
}

/** Retry-After in ms: of seconds or of a date (RFC 9110, section 10.2.3). Null: absent or malformed. */
export function retryAfter(value: string | null, now: number): number | null {
  const text = value?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const date = /^[A-Z][a-z]+, /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
