import { assert } from "../assert.js";
import { InsufficientCreditsError } from "../errors.js";
import type { JobId } from "../ids.js";
import { available, type Balance, type Buckets, type LedgerEntry, post } from "./balance.js";

/**
 * Decides which buckets pay for a job: monthly credits first, then pack credits.
 *
 * @throws {InsufficientCreditsError} `details` holds `required` and `available`, in credits
 * @see API v1, section 1 rule 3; decisions, "Credits"
 */
export function reserve(balance: Buckets, cost: number): Buckets {
  assert(Number.isSafeInteger(cost) && cost >= 0, "a cost is a whole number of credits");
  if (cost > available(balance)) throw new InsufficientCreditsError({ required: cost, available: available(balance) });
  const monthly = Math.min(cost, balance.monthly);
  return { monthly, pack: cost - monthly };
}

/** Moves the reserved credits out of the buckets and counts the job as running. */
export function postReservation(
  balance: Balance,
  jobId: JobId,
  reserved: Buckets,
  now: number,
): { readonly balance: Balance; readonly entry: LedgerEntry } {
  const posted = post(balance, {
    kind: "reserve",
    jobId,
    monthly: 0 - reserved.monthly,
    pack: 0 - reserved.pack,
    reservedMonthly: reserved.monthly,
    reservedPack: reserved.pack,
    createdAt: now,
  });
  return { entry: posted.entry, balance: { ...posted.balance, runningJobs: balance.runningJobs + 1 } };
}
