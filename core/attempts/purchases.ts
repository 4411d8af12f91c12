import type { AttemptLoss, JobAttempt } from "../jobs/job.js";
import type { CountedAttempt, Metrics } from "../ports/metrics.js";
import { isOpen } from "./attempt-states.js";

/**
 * What an attempt means for the operator, who pays the provider:
 * - `none`: nothing was bought: the attempt was refused, or it is the same work as another attempt
 * - `under_way`: bought, and the job can still complete with it
 * - `delivered`: its job completed with it
 * - `wasted`: bought without a result for the job; `loss` gives the reason
 * - `perhaps`: given up; it never became known whether the provider had accepted it
 */
export type Purchase = "none" | "under_way" | "delivered" | "wasted" | "perhaps";

export function purchaseOf(attempt: Pick<JobAttempt, "state" | "acceptedAt" | "loss">): Purchase {
  if (attempt.state === "settled") return "delivered";
  if (isOpen(attempt)) return attempt.acceptedAt === null ? "none" : "under_way";
  if (attempt.loss === null || attempt.state === "refused") return "none";
  return attempt.acceptedAt === null ? "perhaps" : "wasted";
}

/** A change of the counts, and the value that the attempt's row has after the commit. */
interface Change {
  readonly number: number;
  /** `acceptedAt` of what was bought, `endedAt` of what ended. */
  readonly at: number | null;
  readonly counted: CountedAttempt;
}

/**
 * Counts the purchases that a report changes, when it is committed: once, also when the reply to the commit was lost
 * and the report is decided again. A count never decreases: an attempt that is adopted after it was counted as wasted
 * is in both counts; the margin report has it right.
 */
export class CountPurchases {
  private readonly changes = new WeakMap<object, readonly Change[]>();

  constructor(private readonly metrics: Pick<Metrics, "countAttempt"> | null) {}

  /** Records what a report changes; called each time that it is decided. */
  note(report: object, before: readonly JobAttempt[], after: readonly JobAttempt[]): void {
    if (this.metrics === null) return;
    const committed = (this.changes.get(report) ?? []).filter((change) => isWritten(change, before));
    const changes = [...committed, ...changesBetween(before, after)];
    if (changes.length > 0) this.changes.set(report, changes);
    else this.changes.delete(report);
  }

  committed(reports: readonly object[]): void {
    for (const report of reports) {
      for (const { counted } of this.changes.get(report) ?? []) this.metrics?.countAttempt(counted);
      this.changes.delete(report);
    }
  }
}

function changesBetween(before: readonly JobAttempt[], after: readonly JobAttempt[]): Change[] {
  const changed = after.flatMap((now): (readonly [JobAttempt | undefined, JobAttempt])[] => {
    const was = before.find(({ number }) => number === now.number);
    return was === now ? [] : [[was, now]];
  });
  const ended = changed.flatMap(([was, now]): Change[] => {
    const counted = endOf(now);
    const isNew = was === undefined || purchaseOf(was) !== purchaseOf(now);
    return counted !== null && isNew ? [{ number: now.number, at: now.endedAt, counted }] : [];
  });
  return [...boughtBetween(changed), ...ended];
}

/** An attempt that is the same work as another one, bought in its place, is not a second purchase. */
function boughtBetween(changed: readonly (readonly [JobAttempt | undefined, JobAttempt])[]): Change[] {
  const replaced = changed.flatMap(([was, now]) => (wasBought(was) && !isBought(now) ? [now.providerId] : []));
  return changed.flatMap(([was, now]): Change[] => {
    if (wasBought(was) || !isBought(now)) return [];
    const index = replaced.indexOf(now.providerId);
    if (index >= 0) {
      replaced.splice(index, 1);
      return [];
    }
    return [{ number: now.number, at: now.acceptedAt, counted: { became: "bought", provider: now.providerId } }];
  });
}

function isBought(attempt: JobAttempt): boolean {
  return !["none", "perhaps"].includes(purchaseOf(attempt));
}

function wasBought(attempt: JobAttempt | undefined): boolean {
  return attempt !== undefined && isBought(attempt);
}

function endOf(attempt: JobAttempt): CountedAttempt | null {
  const { providerId: provider, loss } = attempt;
  const purchase = purchaseOf(attempt);
  if (purchase === "delivered") return { became: "delivered", provider };
  return purchase === "wasted" && loss !== null ? { became: "wasted", provider, reason: loss } : null;
}

/** Whether the row already has this change: an earlier run of the report was committed before its reply was lost. */
function isWritten({ number, at, counted }: Change, attempts: readonly JobAttempt[]): boolean {
  const attempt = attempts.find((one) => one.number === number);
  if (attempt === undefined) return false;
  if (counted.became === "bought") return attempt.acceptedAt === at;
  return attempt.endedAt === at && endOf(attempt)?.became === counted.became;
}

const LOSSES: Readonly<Record<AttemptLoss, true>> = {
  cancelled: true,
  deadline: true,
  late: true,
  provider_failed: true,
  files_lost: true,
  crashed: true,
  unknown: true,
};

/** All reasons why a purchase can be wasted. */
export const ATTEMPT_LOSSES = Object.keys(LOSSES) as readonly AttemptLoss[];
