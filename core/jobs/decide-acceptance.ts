import type { Alongside } from "../audit/audit-trail.js";
import type { Balance, LedgerEntry, Movement } from "../credits/balance.js";
import { postReservation, reserve } from "../credits/reserve.js";
import { FermataError, GenerationConcurrencyExceededError, OperationRefusedError } from "../errors.js";
import type { Fingerprint, IdempotencyRecord, StoredResponse } from "../ports/idempotency-store.js";
import { checkReplay } from "../idempotency/replay.js";
import type { AccountId, JobId, RequestId } from "../ids.js";
import type { JobReference } from "../ports/job-store.js";
import type { Job, JobKind, JobRequest, JobState } from "./job.js";
import { assert } from "../assert.js";

/** A job that asks to be accepted. Its ids are fixed before, so that a repeated decision makes the same job. */
export interface AcceptCommand {
  /** Without credits: what is reserved is decided with the others of its account. */
  readonly job: Job;
  readonly cost: number;
  /** Jobs the account may have running at once. */
  readonly concurrencyLimit: number;
  readonly idempotency: AcceptIdempotency | null;
  /** The first failed check of the request; a replay is returned all the same. */
  readonly refusal: FermataError | null;
  /** Written in the transaction that accepts the job. */
  readonly alongside?: Alongside<Job>;
}

export interface AcceptIdempotency {
  readonly keyHash: string;
  readonly fingerprint: Fingerprint;
  readonly expiresAt: number;
  /** The response to store and return. */
  present(job: Job): StoredResponse;
}

export type AcceptResult =
  | { readonly kind: "accepted"; readonly job: Job; readonly response: StoredResponse | null }
  | {
      readonly kind: "replayed";
      readonly record: IdempotencyRecord;
      /** The job of the record, where it was read; null: it is there no more. */
      readonly job?: Job | null;
    }
  /** The account has a job of this reference, of the same kind and track. */
  | { readonly kind: "repeated"; readonly job: Job }
  | { readonly kind: "refused"; readonly error: FermataError };

/** `busy`: the decision needs a balance that others hold, and is to be made again. */
export type AcceptOutcome = AcceptResult | { readonly kind: "busy" };

export interface AcceptState {
  /** Jobs of this very batch that are there already: an earlier run was committed, and its reply was lost. */
  readonly created: ReadonlyMap<JobId, Job>;
  readonly records: readonly IdempotencyRecord[];
  /** Those of the references that the commands name. */
  readonly referenced: readonly Job[];
  readonly balances: ReadonlyMap<AccountId, Balance>;
  /** Accounts whose balances others hold. */
  readonly busy: ReadonlySet<AccountId>;
}

export interface AcceptDecision {
  /** One per command, in their order. */
  readonly results: readonly AcceptOutcome[];
  readonly jobs: readonly Job[];
  readonly records: readonly IdempotencyRecord[];
  readonly movements: readonly Movement[];
}

export interface NewJob {
  readonly id: JobId;
  readonly accountId: AccountId;
  readonly kind: JobKind;
  readonly modelId: string;
  readonly request: JobRequest;
  /** Who does it; null: no provider, and the job is refused for it. */
  readonly route: Pick<JobState, "providerId" | "servedModelId" | "operation"> | null;
  readonly reference: string | null;
  readonly requestId: RequestId | null;
  readonly requestedAt: number | null;
  readonly createdAt: number;
}

const NO_CREDITS = { monthly: 0, pack: 0 } as const;

/** A job that waits for its first worker. Its members are named one by one: spread, they took 20 µs of a request. */
export function newJob(given: NewJob): Job {
  return {
    id: given.id,
    accountId: given.accountId,
    kind: given.kind,
    modelId: given.modelId,
    request: given.request,
    reference: given.reference,
    requestId: given.requestId,
    requestedAt: given.requestedAt,
    trace: null,
    operation: given.route?.operation ?? "",
    providerId: given.route?.providerId ?? "",
    servedModelId: given.route?.servedModelId ?? null,
    reserved: NO_CREDITS,
    creditsCharged: 0,
    status: "queued",
    phase: "waiting",
    attempt: 0,
    refusals: 0,
    crashes: 0,
    collectionsBegun: 0,
    cancelRequestedAt: null,
    fence: 0,
    leaseOwner: null,
    dueAt: given.createdAt,
    error: null,
    createdAt: given.createdAt,
    completedAt: null,
    endedBy: null,
  };
}

/** The reference that a command names; none for a generation. */
export function referencesOf({ job: { accountId, reference } }: AcceptCommand): JobReference[] {
  return reference === null ? [] : [{ accountId, reference }];
}

/**
 * Decides on a whole batch in arrival order: replay, repetition or conflict, then the other errors of a request, then
 * concurrency, then credits. Each command sees the effect of those before it.
 *
 * @see decisions, "Order of checks", "Idempotency", "Credits"
 */
export function decideAcceptance(commands: readonly AcceptCommand[], state: AcceptState): AcceptDecision {
  const records = new Map(state.records.map((record) => [recordKey(record.accountId, record.keyHash), record]));
  const referenced = new Map(state.referenced.map((job) => [referenceKey(job), job]));
  const balances = new Map(state.balances);
  const entries = new Map<AccountId, LedgerEntry[]>();
  const jobs: Job[] = [];
  const newRecords: IdempotencyRecord[] = [];

  const decide = (command: AcceptCommand): AcceptOutcome => {
    const { accountId } = command.job;
    const key = command.idempotency === null ? null : recordKey(accountId, command.idempotency.keyHash);
    const record = key === null ? undefined : records.get(key);
    const existing = state.created.get(command.job.id);
    if (existing !== undefined) return { kind: "accepted", job: existing, response: record?.response ?? null };
    if (record !== undefined && command.idempotency !== null) {
      checkReplay(record, command.idempotency.fingerprint);
      return { kind: "replayed", record };
    }
    if (state.busy.has(accountId)) return { kind: "busy" };
    const earlier = command.job.reference === null ? undefined : referenced.get(referenceKey(command.job));
    if (earlier !== undefined) {
      checkSameWork(earlier, command.job);
      return { kind: "repeated", job: earlier };
    }
    if (command.refusal !== null) throw command.refusal;

    const balance = balances.get(accountId);
    assert(balance !== undefined, "an account is created together with its balance");
    if (balance.runningJobs >= command.concurrencyLimit) {
      throw new GenerationConcurrencyExceededError({ limit: command.concurrencyLimit, running: balance.runningJobs });
    }
    const reserved = reserve(balance, command.cost);
    const posted = postReservation(balance, command.job.id, reserved, command.job.createdAt);
    balances.set(accountId, posted.balance);
    append(entries, accountId, posted.entry);

    const job: Job = { ...command.job, reserved, creditsCharged: command.cost };
    jobs.push(job);
    if (job.reference !== null) referenced.set(referenceKey(job), job);
    if (key === null || command.idempotency === null) return { kind: "accepted", job, response: null };
    const response = command.idempotency.present(job);
    const kept = toRecord(command.idempotency, job, response);
    newRecords.push(kept);
    records.set(key, kept);
    return { kind: "accepted", job, response };
  };

  const results = commands.map((command): AcceptOutcome => {
    try {
      return decide(command);
    } catch (error) {
      if (!FermataError.is(error)) throw error;
      return { kind: "refused", error };
    }
  });
  const movements = [...entries].map(([accountId, list]) => ({
    after: balances.get(accountId) as Balance,
    entries: list,
  }));
  return { results, jobs, records: newRecords, movements };
}

function toRecord(idempotency: AcceptIdempotency, job: Job, result: StoredResponse): IdempotencyRecord {
  return {
    shape: idempotency.fingerprint.shape,
    body: idempotency.fingerprint.body,
    accountId: job.accountId,
    keyHash: idempotency.keyHash,
    jobId: job.id,
    response: result,
    createdAt: job.createdAt,
    expiresAt: idempotency.expiresAt,
  };
}

function recordKey(accountId: AccountId, keyHash: string): string {
  return `${accountId} ${keyHash}`;
}

function referenceKey({ accountId, reference }: Pick<Job, "accountId" | "reference">): string {
  return `${accountId} ${reference}`;
}

/** @throws {OperationRefusedError} the reference belongs to another kind of split, or to one of another track */
function checkSameWork(earlier: Job, { kind, request: { sourceTrackId } }: Job): void {
  if (earlier.kind === kind && earlier.request.sourceTrackId === sourceTrackId) return;
  const which = `${earlier.id}, a ${earlier.kind} of the track ${earlier.request.sourceTrackId}`;
  throw new OperationRefusedError(`The reference ${earlier.reference} was used for another job: ${which}.`);
}

function append<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
