import type { Response } from "express";
import { FermataError } from "../../core/errors.js";
import type { Allowance } from "../../core/rate-limits/limits.js";
import type { WindowStatus } from "../../core/ports/rate-limiter.js";
import type { RequestContext } from "./request-context.js";
import { STATUS_BY_CODE } from "./errors.js";

const WINDOW_NAMES: Readonly<Record<number, string>> = { 60: "minute", 86_400: "day" };

/**
 * Notes the allowance and shows it in the headers of "RateLimit header fields for HTTP"
 * (draft-ietf-httpapi-ratelimit-headers-11).
 */
export function showAllowance(context: RequestContext, response: Response, allowance: Allowance): void {
  context.allowance = allowance;
  let policy = "";
  let state = "";
  for (const window of allowance.windows) {
    const name = `"${allowance.kind}-${nameOf(window)}"`;
    const comma = policy === "" ? "" : ", ";
    policy += `${comma}${name};q=${window.limit};w=${window.windowSeconds}`;
    state += `${comma}${name};r=${window.remaining};t=${window.resetSeconds}`;
  }
  response.setHeader("RateLimit-Policy", policy);
  response.setHeader("RateLimit", state);
}

function nameOf({ windowSeconds }: WindowStatus): string {
  return WINDOW_NAMES[windowSeconds] ?? `${windowSeconds}s`;
}

/**
 * Lets a POST that created nothing draw on the read allowance instead of the generation limit.
 *
 * @throws {RateLimitedError} the reads are used up as well
 */
export async function drawOnReads(context: RequestContext, response: Response): Promise<void> {
  const { caller, allowance, deps } = context;
  if (caller === null || allowance === null) return;
  if (allowance.exceeded === null) deps.limits.giveBack(caller.account, allowance.kind);
  const reads = await deps.limits.consume(caller.account, "read");
  showAllowance(context, response, reads);
  if (reads.exceeded !== null) throw reads.exceeded;
}

/**
 * The response to a POST over the generation limit: 429 in place of any other error. Only a reused key gets its own
 * error, as a read; and a fault of ours stays one, since it hid whether the key was used before.
 */
export async function limitedInstead(
  context: RequestContext,
  response: Response,
  error: FermataError | null,
): Promise<FermataError | null> {
  const exceeded = context.allowance?.exceeded ?? null;
  if (exceeded === null || error === null || STATUS_BY_CODE[error.code] >= 500) return error;
  if (error.code !== "idempotency_conflict" && error.code !== "idempotency_key_conflict") return exceeded;
  try {
    await drawOnReads(context, response);
    return error;
  } catch (readsExceeded) {
    return FermataError.is(readsExceeded) ? readsExceeded : null;
  }
}
