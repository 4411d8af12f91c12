import { assert } from "../assert.js";
import type { Balance, Movement } from "../credits/balance.js";
import type { AccountId, JobId } from "../ids.js";
import type { JobStore } from "../ports/job-store.js";
import type { LedgerStore } from "../ports/ledger-store.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { Locked, Transaction } from "../ports/unit-of-work.js";
import { decideSettlement, type Ending } from "./decide-settlement.js";
import type { JobEnded, EndedJobs } from "./ended-jobs.js";
import type { JobState } from "./job.js";

/** Writes the webhook events of ended jobs, in the transaction that ends them. */
export interface EndedJobsWriter {
  /** @param settledBy the numbers of the ledger entries that settled the jobs */
  write(tx: Transaction, ended: readonly JobEnded[], settledBy: ReadonlyMap<JobId, number>, now: number): Promise<void>;
}

export interface SettleJobsDeps {
  readonly ledger: LedgerStore;
  readonly jobs: JobStore;
  readonly library: LibraryStore;
  readonly writeEvents: EndedJobsWriter;
  readonly endedJobs: EndedJobs;
}

/** Ends jobs: final status, charge or refund, free slot, tracks and webhook events, all in the caller's transaction. */
export class SettleJobs {
  constructor(private readonly deps: SettleJobsDeps) {}

  /** The balances that {@link settle} of these jobs needs, locked in `tx` without waiting for other transactions. */
  async lockBalances(tx: Transaction, jobs: Iterable<JobState>): Promise<Locked<AccountId, Balance>> {
    const accountIds = [...new Set([...jobs].map(({ accountId }) => accountId))];
    if (accountIds.length === 0) return { locked: new Map(), busy: new Set() };
    return this.deps.ledger.tryLockBalances(tx, accountIds);
  }

  /**
   * @param locked live jobs, locked in `tx`
   * @param balances of their accounts, locked in `tx`
   * @returns the ended jobs, for {@link emitEnded} once `tx` is committed
   */
  async settle(
    tx: Transaction,
    endings: readonly Ending[],
    locked: ReadonlyMap<JobId, JobState>,
    balances: ReadonlyMap<AccountId, Balance>,
    now: number,
  ): Promise<readonly JobEnded[]> {
    if (endings.length === 0) return [];
    const { ledger, jobs, library, writeEvents } = this.deps;
    const ids = endings.map(({ jobId }) => jobId);
    const { ended, updates, movements } = decideSettlement(endings, locked, balances, now);

    const written = await jobs.updateJobs(tx, updates);
    assert(written.size === updates.length, "a locked job keeps its fence");
    await ledger.apply(tx, movements);
    const files = endings.map(({ outcome }) => (outcome.status === "completed" ? outcome.files : NO_FILES));
    await library.insertTracks(
      tx,
      files.flatMap(({ tracks }) => tracks),
    );
    const outputs = files.map((stored, index) => ({ jobId: ids[index] as JobId, outputs: stored.outputs }));
    await jobs.insertOutputs(
      tx,
      outputs.filter(({ outputs: list }) => list.length > 0),
    );
    const requests = await jobs.requestsOf(tx, ids);
    const all = ended.map((state, index): JobEnded => {
      const request = requests.get(state.id);
      assert(request !== undefined, "a job keeps its request");
      const { tracks, outputs: list } = files[index] ?? NO_FILES;
      return { job: { ...state, request }, tracks, outputs: list };
    });
    await writeEvents.write(tx, all, settledBy(movements), now);
    return all;
  }

  /** Notifies listeners in this process of ended jobs, once their endings are committed. */
  emitEnded(ended: readonly JobEnded[]): void {
    for (const one of ended) this.deps.endedJobs.emitEnded(one);
  }
}

/** By job. Numbers of an account are given while its balance is locked: they are committed in their order. */
function settledBy(movements: readonly Movement[]): Map<JobId, number> {
  const entries = movements.flatMap((movement) => movement.entries);
  return new Map(entries.flatMap(({ jobId, seq }) => (jobId === null ? [] : [[jobId, seq] as const])));
}

const NO_FILES = { tracks: [], outputs: [], missing: [] };
