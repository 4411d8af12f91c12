import { assert } from "../assert.js";
import type { JobId } from "../ids.js";
import { type Balance, type Buckets, type LedgerEntry, post } from "./balance.js";

/**
 * Ends a reservation: `charge` turns it into spent credits, `refund` returns it in full to the buckets it came from.
 * Either way the job no longer counts as running.
 *
 * @see decisions, "Credits"
 */
export function postSettlement(
  balance: Balance,
  jobId: JobId,
  reserved: Buckets,
  kind: "charge" | "refund",
  now: number,
): { readonly balance: Balance; readonly entry: LedgerEntry } {
  const total = reserved.monthly + reserved.pack;
  const posted = post(balance, {
    kind,
    jobId,
    reservedMonthly: 0 - reserved.monthly,
    reservedPack: 0 - reserved.pack,
    createdAt: now,
    ...(kind === "charge" ? { spent: total } : { monthly: reserved.monthly, pack: reserved.pack }),
  });
  const after = { ...posted.balance, runningJobs: balance.runningJobs - 1 };
  assert(
    after.reservedMonthly >= 0 && after.reservedPack >= 0 && after.runningJobs >= 0,
    "a settled job was reserved and counted before",
  );
  return { entry: posted.entry, balance: after };
}
