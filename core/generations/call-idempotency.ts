import type { GivenIdempotency } from "../idempotency/given-idempotency.js";
import type { Job } from "../jobs/job.js";
import { checkIdempotencyKey, type GenerationInput } from "./request-rules.js";

/** In place of method and path: what a key of a call is compared by. */
const CALL = "generations.create";
const ACCEPTED = 202;

/**
 * What makes a repeated call of an embedding app or an operator the same call. The response on record names the job,
 * which a repeated call reads as it is then.
 *
 * @throws {InvalidRequestError} no idempotency key has this form
 */
export function callIdempotency(key: string, input: GenerationInput): GivenIdempotency {
  checkIdempotencyKey(key);
  return { key, route: CALL, body: asJson(input), present: responseOf };
}

/** As JSON has it, members that are undefined are not there. */
function asJson(input: GenerationInput): unknown {
  return JSON.parse(JSON.stringify(input)) as unknown;
}

function responseOf({ id }: Job): ReturnType<GivenIdempotency["present"]> {
  return { status: ACCEPTED, body: JSON.stringify({ id }) };
}
