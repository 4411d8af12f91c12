import { type AcceptCommand, type AcceptResult, decideAcceptance, referencesOf } from "./decide-acceptance.js";
import type { JobId } from "../ids.js";
import { Lanes } from "../lane.js";
import type { Clock } from "../ports/clock.js";
import type { IdempotencyStore } from "../ports/idempotency-store.js";
import type { JobQueue } from "../ports/job-queue.js";
import type { JobStore } from "../ports/job-store.js";
import type { LedgerStore } from "../ports/ledger-store.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import type { Job, JobRequest, JobState } from "./job.js";

export interface AcceptJobsDeps {
  readonly unitOfWork: UnitOfWork;
  readonly idempotency: IdempotencyStore;
  readonly ledger: LedgerStore;
  readonly jobs: JobStore;
  readonly queue: JobQueue;
  readonly clock: Clock;
}

/** Creates jobs: job, reservation and idempotency record in one commit, grouped with other commands that arrive. */
export class AcceptJobs {
  private readonly lanes: Lanes<AcceptCommand, AcceptResult>;

  constructor(private readonly deps: AcceptJobsDeps) {
    const lanes = deps.unitOfWork.concurrentWriters;
    this.lanes = new Lanes(lanes, (commands) => this.acceptGroup(commands), deps.clock);
  }

  /** @throws {ServiceUnavailableError} nothing was accepted */
  accept(command: AcceptCommand): Promise<AcceptResult> {
    return this.lanes.submit(command.job.accountId, command);
  }

  private async acceptGroup(commands: readonly AcceptCommand[]): Promise<readonly AcceptResult[]> {
    const { unitOfWork, idempotency, ledger, jobs, queue, clock } = this.deps;
    const decision = await unitOfWork.inTransaction(async (tx, { isRetry }) => {
      const now = clock.now();
      const keys = commands.flatMap(({ job, idempotency: given }) =>
        given === null ? [] : [{ accountId: job.accountId, keyHash: given.keyHash }],
      );
      const accountIds = [...new Set(commands.map(({ job }) => job.accountId))];
      const records = keys.length === 0 ? [] : await idempotency.findRecords(tx, keys, now);
      const created = isRetry
        ? await jobs.lockJobs(
            tx,
            commands.map(({ job }) => job.id),
          )
        : new Map<JobId, JobState>();
      const made = new Map(commands.flatMap(({ job: { id, request } }) => withRequest(created.get(id), request)));
      const balances = await ledger.lockBalances(tx, accountIds);
      const references = commands.flatMap(referencesOf);
      // Read under the lock of the balances: another process that accepts for the same account has committed, or waits.
      const referenced = references.length === 0 ? [] : await jobs.findByReferences(tx, references);
      const decided = decideAcceptance(commands, { created: made, records, referenced, balances });
      if (decided.jobs.length > 0) {
        await idempotency.insertRecords(tx, decided.records, now);
        await jobs.insertJobs(tx, decided.jobs);
        await ledger.apply(tx, decided.movements);
      }
      for (const [index, result] of decided.results.entries()) {
        if (result.kind === "accepted") await commands[index]?.alongside?.(tx, result.job);
      }
      return decided;
    });
    const made = decision.results.flatMap((result) => (result.kind === "accepted" ? [result.job] : []));
    queue.notify(made.map((job) => ({ jobId: job.id, providerId: job.providerId })));
    return decision.results;
  }
}

function withRequest(state: JobState | undefined, request: JobRequest): [JobId, Job][] {
  return state === undefined ? [] : [[state.id, { ...state, request }]];
}
