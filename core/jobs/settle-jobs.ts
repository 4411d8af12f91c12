import { assert } from "../assert.js";
import { Lanes } from "../lane.js";
import type { Clock } from "../ports/clock.js";
import type { JobStore } from "../ports/job-store.js";
import type { LedgerStore } from "../ports/ledger-store.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { Transaction, UnitOfWork } from "../ports/unit-of-work.js";
import { decideSettlement, type SettleCommand, type SettleDecision, type SettleResult } from "./decide-settlement.js";
import type { Job } from "./job.js";
import type { JobEnded, JobEvents } from "./job-events.js";

/** Writes what others are to be notified of, in the transaction that ends the jobs. */
export interface EndedJobsWriter {
  write(tx: Transaction, ended: readonly JobEnded[], now: number): Promise<void>;
}

export interface SettleJobsPorts {
  readonly unitOfWork: UnitOfWork;
  readonly ledger: LedgerStore;
  readonly jobs: JobStore;
  readonly library: LibraryStore;
  readonly clock: Clock;
  readonly writeEvents: EndedJobsWriter;
  readonly events: JobEvents;
}

/** Ends jobs: final status, charge or refund, free slot, tracks and webhook events in one commit, grouped with whatever else ends. */
export class SettleJobs {
  private readonly lanes: Lanes<SettleCommand, SettleResult>;

  constructor(private readonly ports: SettleJobsPorts) {
    const lanes = ports.unitOfWork.concurrentWriters;
    this.lanes = new Lanes(lanes, (commands) => this.settleGroup(commands), ports.clock);
  }

  /**
   * @returns the ended job; null when it had ended before or the fence is an old one
   * @throws {ServiceUnavailableError} nothing was written; the job is still alive
   */
  async settle(command: SettleCommand): Promise<SettleResult> {
    const ended = await this.lanes.submit(command.accountId, command);
    if (ended !== null) this.ports.events.emitEnded(toEnded(ended, command));
    return ended;
  }

  private settleGroup(commands: readonly SettleCommand[]): Promise<readonly SettleResult[]> {
    const { unitOfWork, ledger, jobs, library, clock, writeEvents } = this.ports;
    return unitOfWork.inTransaction(async (tx) => {
      const now = clock.now();
      const locked = await jobs.lockJobs(tx, [...new Set(commands.map((command) => command.jobId))]);
      const accountIds = [...new Set([...locked.values()].map((job) => job.accountId))];
      const balances = await ledger.lockBalances(tx, accountIds);
      const decision = decideSettlement(commands, locked, balances, now);
      if (decision.updates.length === 0) return decision.results;

      const written = await jobs.updateJobs(tx, decision.updates);
      assert(written.size === decision.updates.length, "a locked job keeps its fence");
      await ledger.apply(tx, decision.movements);
      await library.insertTracks(tx, decision.tracks);
      await jobs.insertOutputs(tx, decision.outputs);
      for (const { jobId, number, ...result } of decision.attempts) {
        await jobs.finishAttempt(tx, jobId, number, { ...result, endedAt: now });
      }
      await writeEvents.write(tx, newlyEnded(commands, decision), now);
      return decision.results;
    });
  }
}

/** The jobs that this decision ends; one that is reported again ended before. */
function newlyEnded(commands: readonly SettleCommand[], { results, updates }: SettleDecision): JobEnded[] {
  const left = new Set(updates.map((update) => update.id));
  return commands.flatMap((command, index) => {
    const job = results[index] ?? null;
    return job !== null && left.delete(job.id) ? [toEnded(job, command)] : [];
  });
}

function toEnded(job: Job, { outcome }: SettleCommand): JobEnded {
  return outcome.status === "completed" ? { job, tracks: outcome.tracks, outputs: outcome.outputs ?? [] } : { job, tracks: [], outputs: [] };
}
