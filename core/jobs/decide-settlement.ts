import { assert } from "../assert.js";
import type { Balance, LedgerEntry, Movement } from "../credits/balance.js";
import { postSettlement } from "../credits/settle.js";
import type { AccountId, JobId } from "../ids.js";
import type { JobChanges, JobUpdate } from "../ports/job-store.js";
import { assertMove, costOf, isFinal, type JobError, type JobState, type StoredFiles } from "./job.js";

/** How a live job ends. */
export interface Ending {
  readonly jobId: JobId;
  /** Names the report that ends it. */
  readonly endedBy: string;
  /** What has changed of the job in the same transaction and is not written yet; nothing by default. */
  readonly changes?: JobChanges;
  readonly outcome:
    | { readonly status: "completed"; readonly files: StoredFiles }
    | { readonly status: "failed"; readonly error: JobError };
}

export interface SettlementDecision {
  /** The jobs as they are once ended, one for each ending, in their order. */
  readonly ended: readonly JobState[];
  readonly updates: readonly JobUpdate[];
  readonly movements: readonly Movement[];
}

/**
 * Decides on a whole batch of endings of different live jobs: completion charges what was reserved, failure refunds it
 * in full.
 *
 * @see decisions, "Job/generation status", "Credits"
 */
export function decideSettlement(
  endings: readonly Ending[],
  jobs: ReadonlyMap<JobId, JobState>,
  balancesBefore: ReadonlyMap<AccountId, Balance>,
  now: number,
): SettlementDecision {
  const balances = new Map(balancesBefore);
  const entries = new Map<AccountId, LedgerEntry[]>();
  const updates = new Map<JobId, JobUpdate>();

  const ended = endings.map(({ jobId, endedBy, outcome, changes: earlier = {} }): JobState => {
    const stored = jobs.get(jobId);
    assert(stored !== undefined && !isFinal(stored.status), "a job ends once, while it is alive");
    const job: JobState = { ...stored, ...earlier };
    assert(!updates.has(jobId), "a batch ends a job once");
    assertMove(job, outcome.status);

    const completed = outcome.status === "completed";
    const balance = balances.get(job.accountId);
    assert(balance !== undefined, "an account is created together with its balance");
    const posted = postSettlement(balance, job.id, job.reserved, completed ? "charge" : "refund", now);
    balances.set(job.accountId, posted.balance);
    const earlierEntries = entries.get(job.accountId);
    if (earlierEntries === undefined) entries.set(job.accountId, [posted.entry]);
    else earlierEntries.push(posted.entry);

    const changes = {
      status: outcome.status,
      phase: "ended",
      fence: stored.fence + 1,
      leaseOwner: null,
      dueAt: null,
      error: outcome.status === "failed" ? outcome.error : null,
      creditsCharged: completed ? costOf(job) : 0,
      completedAt: now,
      endedBy,
    } as const;
    updates.set(jobId, { id: jobId, fence: stored.fence, changes: { ...earlier, ...changes } });
    return { ...job, ...changes };
  });

  const movements = [...entries].map(([accountId, list]) => ({
    after: balances.get(accountId) as Balance,
    entries: list,
  }));
  return { ended, updates: [...updates.values()], movements };
}
