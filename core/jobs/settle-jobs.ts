import { assert } from "../assert.js";
import type { Balance, Movement } from "../credits/balance.js";
import type { AccountId, JobId, WebhookEndpointId } from "../ids.js";
import type { JobStore, JobUpdate } from "../ports/job-store.js";
import type { LedgerStore } from "../ports/ledger-store.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { Transaction } from "../ports/unit-of-work.js";
import { decideSettlement, type Ending } from "./decide-settlement.js";
import type { JobEnded, EndedJobs } from "./ended-jobs.js";
import type { JobRequest, JobState } from "./job.js";

/** The active endpoints of each account. */
type Endpoints = ReadonlyMap<AccountId, readonly WebhookEndpointId[]>;

/** What the events of ended jobs depend on. */
export interface Settled {
  readonly endpoints: Endpoints;
  /** The numbers of the ledger entries that settled the jobs. */
  readonly settledBy: ReadonlyMap<JobId, number>;
  readonly now: number;
}

/** Writes the webhook events of ended jobs, in the transaction that ends them. */
export interface EndedJobsWriter {
  endpointsOf(tx: Transaction, accountIds: readonly AccountId[]): Promise<Endpoints>;
  write(tx: Transaction, ended: readonly JobEnded[], settled: Settled): Promise<void>;
}

/** A job that is to end, and its request where the caller knows it. */
export interface EndingJob {
  readonly job: JobState;
  readonly request: JobRequest | null;
}

/** What {@link SettleJobs.settle} needs of the jobs that it ends. */
export interface ToSettle {
  /** Locked. */
  readonly balances: ReadonlyMap<AccountId, Balance>;
  /** Accounts whose balances other transactions hold. */
  readonly busy: ReadonlySet<AccountId>;
  readonly requests: ReadonlyMap<JobId, JobRequest>;
  readonly endpoints: Endpoints;
}

const NOTHING: ToSettle = { balances: new Map(), busy: new Set(), requests: new Map(), endpoints: new Map() };

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

  /** Locks the balances that {@link settle} of these jobs needs, without waiting for other transactions. */
  async prepare(tx: Transaction, ending: readonly EndingJob[]): Promise<ToSettle> {
    const { ledger, jobs, writeEvents } = this.deps;
    if (ending.length === 0) return NOTHING;
    const accountIds = [...new Set(ending.map(({ job }) => job.accountId))];
    const unknown = ending.flatMap(({ job, request }) => (request === null ? [job.id] : []));
    const [{ locked: balances, busy }, read, endpoints] = await Promise.all([
      ledger.tryLockBalances(tx, accountIds),
      jobs.requestsOf(tx, unknown),
      writeEvents.endpointsOf(tx, accountIds),
    ]);
    const known = ending.flatMap(({ job, request }) => (request === null ? [] : [[job.id, request] as const]));
    return { balances, busy, requests: new Map([...read, ...known]), endpoints };
  }

  /**
   * Writes all that follows from the ends of jobs but the jobs themselves.
   *
   * @param locked live jobs, locked in `tx`
   * @param prepared for all of the jobs that end
   * @returns the ended jobs, for {@link emitEnded} once `tx` is committed, and their updates, which are still to be
   *   written
   */
  async settle(
    tx: Transaction,
    endings: readonly Ending[],
    locked: ReadonlyMap<JobId, JobState>,
    { balances, requests, endpoints }: ToSettle,
    now: number,
  ): Promise<{ readonly ended: readonly JobEnded[]; readonly updates: readonly JobUpdate[] }> {
    if (endings.length === 0) return { ended: [], updates: [] };
    const { ledger, jobs, library, writeEvents } = this.deps;
    const decided = decideSettlement(endings, locked, balances, now);
    const files = endings.map(({ outcome }) => (outcome.status === "completed" ? outcome.files : NO_FILES));
    const ended = decided.ended.map((state, index): JobEnded => {
      const request = requests.get(state.id);
      assert(request !== undefined, "a job keeps its request");
      const { tracks, outputs } = files[index] ?? NO_FILES;
      const isDelivered = (endpoints.get(state.accountId) ?? []).length > 0;
      return { job: { request, ...state }, tracks, outputs, isDelivered };
    });
    await ledger.apply(tx, decided.movements);
    await library.insertTracks(
      tx,
      files.flatMap(({ tracks }) => tracks),
    );
    const outputs = ended.map(({ job: { id }, outputs: list }) => ({ jobId: id, outputs: list }));
    await jobs.insertOutputs(
      tx,
      outputs.filter(({ outputs: list }) => list.length > 0),
    );
    await writeEvents.write(tx, ended, { endpoints, settledBy: settledBy(decided.movements), now });
    return { ended, updates: decided.updates };
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
