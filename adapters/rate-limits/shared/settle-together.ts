import type { RateCount, RateCountStore } from "../../../core/ports/rate-count-store.js";
import type { UnitOfWork } from "../../../core/ports/unit-of-work.js";
import type { Clock } from "../../../core/ports/clock.js";
import { settleCounts, type SubjectClaim, type SubjectSettlement } from "../../../core/rate-limits/settle-counts.js";

export interface SettlingDeps {
  readonly counts: RateCountStore;
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
}

/** What this process brings of one subject. */
export interface SubjectOfGroup extends SubjectClaim {
  readonly subject: string;
}

/**
 * Settles many subjects in one transaction: one locking read, and at most one insert and one update of many rows. Where
 * nothing has changed nothing is written. A subject may occur twice; it is settled in turn then. A commit whose
 * response is lost is repeated and counts twice, which errs on the side of the limit.
 *
 * @returns one settlement per subject, in their order
 */
export function settleTogether(
  { counts, unitOfWork, clock }: SettlingDeps,
  group: readonly SubjectOfGroup[],
): Promise<SubjectSettlement[]> {
  return unitOfWork.inTransaction(async (tx) => {
    const stored = await counts.lockCounts(
      tx,
      group.map(({ subject }) => subject),
    );
    // The time as of the locks: others may have held them for a while.
    const now = clock.now();
    const current = new Map<string, RateCount[]>();
    for (const count of stored) current.set(count.subject, [...(current.get(count.subject) ?? []), count]);
    const changed = new Map<string, RateCount>();
    const settlements = group.map((member) => {
      const { subject } = member;
      const settlement = settleCounts(current.get(subject) ?? [], member, now);
      current.set(
        subject,
        settlement.windows.map((window) => ({ ...window, subject })),
      );
      for (const window of settlement.changed) changed.set(keyOf({ ...window, subject }), { ...window, subject });
      return settlement;
    });
    const known = new Set(stored.map(keyOf));
    const all = [...changed.values()];
    await counts.insertCounts(
      tx,
      all.filter((count) => !known.has(keyOf(count))),
    );
    await counts.replaceCounts(
      tx,
      all.filter((count) => known.has(keyOf(count))),
    );
    return settlements;
  });
}

function keyOf({ subject, windowSeconds }: RateCount): string {
  return `${windowSeconds} ${subject}`;
}
