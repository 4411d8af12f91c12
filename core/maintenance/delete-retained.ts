import type { Clock } from "../ports/clock.js";
import type { GrowthStore } from "../ports/growth-store.js";
import type { InstallationStore } from "../ports/installation-store.js";
import type { Transaction, UnitOfWork } from "../ports/unit-of-work.js";
import type { MaintenanceTask } from "./maintenance.js";
import type { RetentionRule } from "./retention.js";

export interface DeleteRetainedDeps {
  readonly growth: Pick<GrowthStore, "due">;
  readonly installation: Pick<InstallationStore, "keepFirst" | "tryLock">;
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly everyMs: number;
}

export interface RetainedDeletion extends Pick<MaintenanceTask, "id" | "description"> {
  readonly rule: RetentionRule;
  /**
   * Deletes what began to age before a moment.
   *
   * @returns how many it deleted; fewer than `limit` when no more are left
   */
  deleteBatch(tx: Transaction, before: number, limit: number): Promise<number>;
  /** Rows of one transaction: so few that no lock is held for long. */
  readonly limit: number;
}

/** Of one run; the next one goes on. */
const RUN_MAX_MS = 60_000;

/**
 * Deletes what is past its time in small transactions. Of all processes one deletes a kind at a time, and rests after
 * each transaction for as long as that took, so that at most half of the time is spent on it. Nothing is written while
 * nothing is due, and what a process that was lost has left is found again.
 */
export function deleteRetained(deps: DeleteRetainedDeps, deletion: RetainedDeletion): MaintenanceTask {
  const { growth, installation, unitOfWork, clock, everyMs } = deps;
  const { id, description, rule, deleteBatch, limit } = deletion;
  const lock = `retention of ${rule.kind}`;
  const deleteNext = async (): Promise<number> => {
    const before = clock.now() - rule.keptMs;
    return unitOfWork.inTransaction(async (tx) =>
      // Another process is at work on it.
      (await installation.tryLock(tx, lock)) ? deleteBatch(tx, before, limit) : 0,
    );
  };
  return {
    id,
    description,
    everyMs,
    run: async (signal) => {
      if ((await growth.due(rule.kind, clock.now() - rule.keptMs, 1)).rows === 0) return;
      await installation.keepFirst(lock, "");
      const endsAt = clock.now() + RUN_MAX_MS;
      for (let startedAt = clock.now(); !signal.aborted && startedAt < endsAt; startedAt = clock.now()) {
        if ((await deleteNext()) < limit) return;
        const tookMs = clock.now() - startedAt;
        if (tookMs > 0) await clock.sleep(tookMs, signal);
      }
    },
  };
}
