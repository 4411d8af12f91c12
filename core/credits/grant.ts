import { OperationRefusedError } from "../errors.js";
import { type Balance, type Movement, post } from "./balance.js";

/** Balances stay below this, so that sums are exact in every engine and language. */
export const CREDITS_MAX = 1_000_000_000_000;

export type Bucket = "monthly" | "pack";

/**
 * Adds credits to a bucket.
 *
 * @throws {OperationRefusedError} the amount is not a whole number from 1 on, or the bucket would pass {@link
 *   CREDITS_MAX}
 */
export function grant(
  balance: Balance,
  amount: number,
  bucket: Bucket,
  reference: string | null,
  now: number,
): Movement {
  if (!Number.isSafeInteger(amount) || amount < 1) {
    throw new OperationRefusedError(`A grant is a whole number of credits from 1 on; got ${amount}.`);
  }
  if (balance[bucket] + amount > CREDITS_MAX) {
    throw new OperationRefusedError(`A bucket holds at most ${CREDITS_MAX} credits.`);
  }
  const posted = post(balance, { kind: "grant", [bucket]: amount, reference, createdAt: now });
  return { after: posted.balance, entries: [posted.entry] };
}
