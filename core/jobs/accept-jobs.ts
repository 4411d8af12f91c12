import {
  type AcceptCommand,
  type AcceptIdempotency,
  type AcceptOutcome,
  type AcceptResult,
  decideAcceptance,
  referencesOf,
} from "./decide-acceptance.js";
import { assert } from "../assert.js";
import type { Balance } from "../credits/balance.js";
import type { AccountId, JobId } from "../ids.js";
import { BUSY, LANE_DEFAULTS } from "../lane.js";
import { Lanes } from "../lanes.js";
import type { Clock } from "../ports/clock.js";
import { KnownKeys } from "../idempotency/known-keys.js";
import { checkReplay, isValid } from "../idempotency/replay.js";
import type { IdempotencyKey, IdempotencyStore } from "../ports/idempotency-store.js";
import type { JobQueue } from "../ports/job-queue.js";
import type { JobStore } from "../ports/job-store.js";
import type { LedgerStore } from "../ports/ledger-store.js";
import type { Metrics } from "../ports/metrics.js";
import type { SpanAttributes, SpanDescription, Tracer } from "../ports/tracer.js";
import type { HostTransaction, Locked, Transaction, TransactionWork, UnitOfWork } from "../ports/unit-of-work.js";
import { jobMessage } from "../tracing/job-spans.js";
import { traced, untraced } from "../tracing/traced.js";
import { joinTransaction } from "../transactions.js";
import { announced } from "./announce.js";
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
  private readonly keys: KnownKeys;

  constructor(private readonly deps: AcceptJobsDeps) {
    this.keys = new KnownKeys(deps);
    const lanes = deps.unitOfWork.concurrentWriters;
    this.lanes = new Lanes(
      lanes,
      (commands, isAgain) => untraced(deps.tracer, () => this.acceptGroup(commands, isAgain)),
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

  /**
   * The replay of a key that this process has seen used; null for any other, which {@link accept} decides on. A
   * repeated request is spared what a new job needs, and a transaction.
   *
   * @throws {IdempotencyConflictError} {@link IdempotencyKeyConflictError} the key was used for another request
   * @throws {ServiceUnavailableError} the storage cannot be reached
   */
  async replayKnown(accountId: AccountId, { keyHash, fingerprint }: AcceptIdempotency): Promise<Replayed | null> {
    const key = { accountId, keyHash };
    if (!this.keys.has(key)) return null;
    const describe = (): SpanDescription => ({
      name: "create job",
      kind: "producer",
      attributes: jobMessage("create"),
    });
    return traced(this.deps.tracer, describe, async (span) => {
      const record = await this.keys.find(key);
      if (record === null) return null;
      checkReplay(record, fingerprint);
      const replayed = { kind: "replayed", record } as const;
      span?.set(attributesOf(replayed, record.jobId));
      return replayed;
    });
  }

  private async submit(command: AcceptCommand, transaction: HostTransaction | undefined): Promise<AcceptResult> {
    if (transaction !== undefined) return this.acceptIn(transaction, command);
    const result = await this.lanes.submit(command.job.accountId, command);
    const [key] = keysOf(command);
    if (key !== undefined && result.kind !== "refused") this.keys.note(key);
    return result;
  }

  /** Alone: the app's transaction holds up no other command. */
  private async acceptIn(transaction: HostTransaction, command: AcceptCommand): Promise<AcceptResult> {
    const { ledger } = this.deps;
    const work: TransactionWork<AcceptResult> = async (tx, run) => {
      const lock: LockBalances = async (ids) => ({ locked: await ledger.lockBalances(tx, ids), busy: new Set() });
      const [result] = await this.write(tx, [command], { mayExist: run.isRetry, lock, waits: true });
      assert(result !== undefined && result.kind !== "busy", "a command that waits for its balance has a result");
      // No other transaction sees a job that this one created.
      return result.kind === "replayed" ? { ...result, job: await this.find(tx, result.record.jobId) } : result;
    };
    return joinTransaction(this.deps.unitOfWork, transaction, work, (result) => this.notify([result]));
  }

  /** Waits for no account that others hold: it would hold up all the others of the group. */
  private async acceptGroup(
    commands: readonly AcceptCommand[],
    isAgain: boolean,
  ): Promise<readonly (AcceptResult | typeof BUSY)[]> {
    const { unitOfWork, ledger } = this.deps;
    const results = await unitOfWork.inTransaction((tx, { isRetry }) =>
      this.write(tx, commands, {
        mayExist: isRetry || isAgain,
        lock: (ids) => ledger.tryLockBalances(tx, ids),
        waits: false,
      }),
    );
    this.notify(results);
    return results.map((result) => (result.kind === "busy" ? BUSY : result));
  }

  /** Workers hear of the jobs that were created. */
  private notify(results: readonly AcceptOutcome[]): void {
    const created = results.flatMap((result) => (result.kind === "accepted" ? [result.job] : []));
    this.deps.queue.notify(announced(created.map((job) => ({ jobId: job.id, providerId: job.providerId }))));
  }

  private async find(tx: Transaction, id: JobId): Promise<Job | null> {
    const { jobs } = this.deps;
    const [state, request] = [(await jobs.lockJobs(tx, [id])).get(id), (await jobs.requestsOf(tx, [id])).get(id)];
    return state === undefined || request === undefined ? null : { ...state, request };
  }

  /**
   * Decides on the commands, and writes what was decided.
   *
   * @param mayExist an earlier run may have created some of the jobs
   * @param waits `lock` waits for accounts that others hold, and there is one command
   */
  private async write(
    tx: Transaction,
    commands: readonly AcceptCommand[],
    { mayExist, lock, waits }: WriteOptions,
  ): Promise<readonly AcceptOutcome[]> {
    const { idempotency, ledger, jobs, clock } = this.deps;
    const now = clock.now();
    const keys = commands.flatMap(keysOf);
    const finding = keys.length === 0 ? [] : idempotency.findRecords(tx, keys);
    // A command whose key has a record is a replay or a conflict: neither needs the balance.
    const needsNone = waits && (await finding).some((record) => isValid(record, now));
    const ids = mayExist ? commands.map(({ job }) => job.id) : [];
    const existing = ids.length === 0 ? new Map<JobId, JobState>() : jobs.lockJobs(tx, ids);
    const locking = needsNone ? NO_BALANCES : lock([...new Set(commands.map(({ job }) => job.accountId))]);
    // Asked for together they cost one round trip.
    const [records, states, { locked: balances, busy }] = await Promise.all([finding, existing, locking]);
    const created = new Map(commands.flatMap(({ job: { id, request } }) => withRequest(states.get(id), request)));
    const references = commands.flatMap(referencesOf);
    // Read under the lock of the balances: another process that accepts for the same account has committed, or waits.
    const referenced = references.length === 0 ? [] : await jobs.findByReferences(tx, references);
    const valid = records.filter((record) => isValid(record, now));
    const expired = records.filter((record) => !isValid(record, now));
    const decided = decideAcceptance(commands, { created, records: valid, referenced, balances, busy });
    if (decided.jobs.length > 0) {
      if (expired.length > 0) await idempotency.freeKeys(tx, expired, now);
      await idempotency.insertRecords(tx, decided.records);
      await jobs.insertJobs(tx, decided.jobs);
      await ledger.apply(tx, decided.movements);
    }
    for (const [index, result] of decided.results.entries()) {
      if (result.kind === "accepted") await commands[index]?.alongside?.(tx, result.job);
    }
    return decided.results;
  }
}

type Replayed = Extract<AcceptResult, { kind: "replayed" }>;

interface WriteOptions {
  readonly mayExist: boolean;
  readonly lock: LockBalances;
  readonly waits: boolean;
}

const NO_BALANCES: Locked<AccountId, Balance> = { locked: new Map(), busy: new Set() };

function keysOf({ job, idempotency }: AcceptCommand): IdempotencyKey[] {
  return idempotency === null ? [] : [{ accountId: job.accountId, keyHash: idempotency.keyHash }];
}

type LockBalances = (accountIds: readonly AccountId[]) => Promise<Locked<AccountId, Balance>>;

function withRequest(state: JobState | undefined, request: JobRequest): [JobId, Job][] {
  return state === undefined ? [] : [[state.id, { ...state, request }]];
}

/** Which job the command led to, and how. */
function attributesOf(result: AcceptResult, id: JobId): SpanAttributes {
  if (result.kind === "refused") return { "fermata.acceptance": result.kind, "error.type": result.error.code };
  const jobId = result.kind === "replayed" ? result.record.jobId : result.kind === "repeated" ? result.job.id : id;
  return { "fermata.acceptance": result.kind, "messaging.message.id": jobId };
}
