import { type AcceptCommand, type AcceptResult, decideAcceptance, referencesOf } from "./decide-acceptance.js";
import { assert } from "../assert.js";
import type { JobId } from "../ids.js";
import { LANE_DEFAULTS, Lanes } from "../lane.js";
import type { Clock } from "../ports/clock.js";
import type { IdempotencyStore } from "../ports/idempotency-store.js";
import type { JobQueue } from "../ports/job-queue.js";
import type { JobStore } from "../ports/job-store.js";
import type { LedgerStore } from "../ports/ledger-store.js";
import type { Metrics } from "../ports/metrics.js";
import type { SpanAttributes, SpanDescription, Tracer } from "../ports/tracer.js";
import type { HostTransaction, Transaction, TransactionWork, UnitOfWork } from "../ports/unit-of-work.js";
import { jobMessage } from "../tracing/job-spans.js";
import { traced, untraced } from "../tracing/traced.js";
import { joinTransaction } from "../transactions.js";
import type { Job, JobRequest, JobState } from "./job.js";

export interface AcceptJobsDeps {
  readonly unitOfWork: UnitOfWork;
  readonly idempotency: IdempotencyStore;
  readonly ledger: LedgerStore;
  readonly jobs: JobStore;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, "countGroup"> | null;
  readonly tracer: Tracer | null;
}

/** Creates jobs: job, reservation and idempotency record in one commit, grouped with other commands that arrive. */
export class AcceptJobs {
  private readonly lanes: Lanes<AcceptCommand, AcceptResult>;

  constructor(private readonly deps: AcceptJobsDeps) {
    const lanes = deps.unitOfWork.concurrentWriters;
    this.lanes = new Lanes(
      lanes,
      (commands) => untraced(deps.tracer, () => this.acceptGroup(commands)),
      deps.clock,
      LANE_DEFAULTS,
      (waits) => deps.metrics?.countGroup("accept", waits),
    );
  }

  /**
   * @param transaction of an embedding app, which commits the job with what it wrote itself, or neither
   * @throws {ServiceUnavailableError} nothing was accepted
   * @throws as {@link joinTransaction}
   */
  accept(command: AcceptCommand, transaction?: HostTransaction): Promise<AcceptResult> {
    const { tracer } = this.deps;
    if (tracer === null) return this.submit(command, transaction);
    const { id, operation, providerId } = command.job;
    const describe = (): SpanDescription => ({
      name: "create job",
      kind: "producer",
      parent: tracer.current(),
      attributes: { ...jobMessage("create"), "fermata.operation": operation, "fermata.provider": providerId },
    });
    return traced(tracer, describe, async (span) => {
      const trace = span?.context ?? null;
      const result = await this.submit({ ...command, job: { ...command.job, trace } }, transaction);
      span?.set(attributesOf(result, id));
      return result;
    });
  }

  private submit(command: AcceptCommand, transaction: HostTransaction | undefined): Promise<AcceptResult> {
    return transaction === undefined
      ? this.lanes.submit(command.job.accountId, command)
      : this.acceptIn(transaction, command);
  }

  /** Alone: the app's transaction holds up no other command. */
  private async acceptIn(transaction: HostTransaction, command: AcceptCommand): Promise<AcceptResult> {
    const work: TransactionWork<AcceptResult> = async (tx, run) => {
      const [result] = await this.write([command])(tx, run);
      assert(result !== undefined, "each command has a result");
      // No other transaction sees a job that this one created.
      return result.kind === "replayed" ? { ...result, job: await this.find(tx, result.record.jobId) } : result;
    };
    return joinTransaction(this.deps.unitOfWork, transaction, work, (result) => this.notify([result]));
  }

  private async acceptGroup(commands: readonly AcceptCommand[]): Promise<readonly AcceptResult[]> {
    const results = await this.deps.unitOfWork.inTransaction(this.write(commands));
    this.notify(results);
    return results;
  }

  /** Workers hear of the jobs that were created. */
  private notify(results: readonly AcceptResult[]): void {
    const created = results.flatMap((result) => (result.kind === "accepted" ? [result.job] : []));
    this.deps.queue.notify(created.map((job) => ({ jobId: job.id, providerId: job.providerId })));
  }

  private async find(tx: Transaction, id: JobId): Promise<Job | null> {
    const { jobs } = this.deps;
    const [state, request] = [(await jobs.lockJobs(tx, [id])).get(id), (await jobs.requestsOf(tx, [id])).get(id)];
    return state === undefined || request === undefined ? null : { ...state, request };
  }

  /** Decides on the commands, and writes what was decided. */
  private write(commands: readonly AcceptCommand[]): TransactionWork<readonly AcceptResult[]> {
    const { idempotency, ledger, jobs, clock } = this.deps;
    return async (tx, { isRetry }) => {
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
      return decided.results;
    };
  }
}

function withRequest(state: JobState | undefined, request: JobRequest): [JobId, Job][] {
  return state === undefined ? [] : [[state.id, { ...state, request }]];
}

/** Which job the command led to, and how. */
function attributesOf(result: AcceptResult, id: JobId): SpanAttributes {
  if (result.kind === "refused") return { "fermata.acceptance": result.kind, "error.type": result.error.code };
  const jobId = result.kind === "replayed" ? result.record.jobId : result.kind === "repeated" ? result.job.id : id;
  return { "fermata.acceptance": result.kind, "messaging.message.id": jobId };
}
