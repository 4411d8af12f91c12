import { assert } from "../assert.js";
import type { Balance, LedgerEntry, Movement } from "../credits/balance.js";
import { postSettlement } from "../credits/settle.js";
import type { AccountId, JobId } from "../ids.js";
import type { Track } from "../library/track.js";
import type { JobUpdate } from "../ports/job-store.js";
import { assertMove, isFinal, costOf, type Job, type JobAttempt, type JobError, type JobOutput } from "./job.js";

/** How the last attempt came out, written with the settlement. */
export type AttemptResult = Pick<JobAttempt, "number" | "outcome" | "message" | "cost" | "billable">;

/** A job that asks to end. */
export interface SettleCommand {
  readonly jobId: JobId;
  readonly accountId: AccountId;
  /** The fence of the worker that reports; null for an operator, who overrules any worker. */
  readonly fence: number | null;
  readonly outcome:
    | {
        readonly status: "completed";
        /** None for a split. */
        readonly tracks: readonly Track[];
        /** Left out for a generation. */
        readonly outputs?: readonly JobOutput[];
      }
    | { readonly status: "failed"; readonly error: JobError };
  readonly attempt: AttemptResult | null;
}

/**
 * The ended job; null when it had already ended or belongs to another worker by now: nothing was changed. A worker that reports
 * a completion again, not knowing that its first report was committed, gets the job too.
 */
export type SettleResult = Job | null;

export interface SettleDecision {
  readonly results: readonly SettleResult[];
  readonly updates: readonly JobUpdate[];
  readonly movements: readonly Movement[];
  readonly tracks: readonly Track[];
  readonly outputs: readonly { readonly jobId: JobId; readonly outputs: readonly JobOutput[] }[];
  readonly attempts: readonly (AttemptResult & { readonly jobId: JobId })[];
}

/**
 * Decides on a whole batch of endings. The first report of a job wins: late and double ones, and those of a worker that
 * lost its lease, change nothing. Completion charges what was reserved, failure refunds it in full.
 *
 * @see decisions, "Job/generation status", "Credits"
 */
export function decideSettlement(
  commands: readonly SettleCommand[],
  jobs: ReadonlyMap<JobId, Job>,
  balancesBefore: ReadonlyMap<AccountId, Balance>,
  now: number,
): SettleDecision {
  const current = new Map(jobs);
  const balances = new Map(balancesBefore);
  const entries = new Map<AccountId, LedgerEntry[]>();
  const updates: JobUpdate[] = [];
  const tracks: Track[] = [];
  const outputs: { jobId: JobId; outputs: readonly JobOutput[] }[] = [];
  const attempts: (AttemptResult & { jobId: JobId })[] = [];

  const results = commands.map((command): SettleResult => {
    const job = current.get(command.jobId);
    if (job === undefined) return null;
    if (isFinal(job.status)) return wasCompletedBy(command, job) ? job : null;
    if (command.fence !== null && command.fence !== job.fence) return null;
    assertMove(job, command.outcome.status);

    const completed = command.outcome.status === "completed";
    const balance = balances.get(job.accountId);
    assert(balance !== undefined, "an account is created together with its balance");
    const posted = postSettlement(balance, job.id, job.reserved, completed ? "charge" : "refund", now);
    balances.set(job.accountId, posted.balance);
    entries.set(job.accountId, [...(entries.get(job.accountId) ?? []), posted.entry]);

    const toBeCancelled = command.fence === null && job.phase === "rendering";
    const changes = {
      status: command.outcome.status,
      phase: "ended",
      fence: job.fence + 1,
      leaseOwner: null,
      dueAt: null,
      error: command.outcome.status === "failed" ? command.outcome.error : null,
      creditsCharged: completed ? costOf(job) : 0,
      completedAt: now,
      // The provider goes on with what nobody waits for any more, unless it is told.
      cancelDueAt: toBeCancelled ? now : null,
      handle: toBeCancelled ? job.handle : null,
    } as const;
    const ended: Job = { ...job, ...changes };
    updates.push({ id: job.id, fence: job.fence, changes });
    if (command.outcome.status === "completed") {
      tracks.push(...command.outcome.tracks);
      if (command.outcome.outputs !== undefined) outputs.push({ jobId: job.id, outputs: command.outcome.outputs });
    }
    if (command.attempt !== null) attempts.push({ ...command.attempt, jobId: job.id });
    current.set(job.id, ended);
    return ended;
  });

  const movements = [...entries].map(([accountId, list]) => ({ after: balances.get(accountId) as Balance, entries: list }));
  return { results, updates, movements, tracks, outputs, attempts };
}

/** Ending a job raises its fence by one, and operators only fail jobs: this fence completed it. */
function wasCompletedBy(command: SettleCommand, job: Job): boolean {
  const bothCompleted = job.status === "completed" && command.outcome.status === "completed";
  return bothCompleted && command.fence !== null && job.fence === command.fence + 1;
}
