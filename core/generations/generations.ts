import type { ManageAccounts } from "../accounts/manage-accounts.js";
import { InvalidRequestError, JobNotFoundError } from "../errors.js";
import { isId, type AccountId, type JobId, type RequestId } from "../ids.js";
import type { Job, JobError, JobKind, JobOutput, JobRequest, JobStatus } from "../jobs/job.js";
import type { Track } from "../library/track.js";
import type { HostTransaction } from "../ports/unit-of-work.js";
import type { AcceptGeneration } from "./accept-generation.js";
import { GENERATIONS_LIMIT, type JobWithTracks, type ReadGenerations } from "./read-generations.js";
import { callIdempotency } from "./call-idempotency.js";
import { checkGenerationInput, type GenerationInput } from "./request-rules.js";
import type { WaitForJob } from "./wait-for-job.js";

/** A generation, or a split, as its account sees it. */
export interface Generation {
  readonly id: JobId;
  readonly accountId: AccountId;
  /** `music` is a generation; the others split a track. */
  readonly kind: JobKind;
  /** As it was asked for; `stem_split` or `vocal_removal` for a split. */
  readonly modelId: string;
  /** `completed` and `failed` are final. */
  readonly status: JobStatus;
  /** What it costs the account as of now, in whole credits: reserved, then charged, or 0 once refunded. */
  readonly creditsCharged: number;
  /** What was asked for. */
  readonly request: JobRequest;
  /** Why it failed; null unless it did. */
  readonly error: JobError | null;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** When it completed or failed, in milliseconds since 1970; null before. */
  readonly completedAt: number | null;
  /** Empty until it completed. */
  readonly tracks: readonly Track[];
  /** The files of a split; empty until it completed. */
  readonly outputs: readonly JobOutput[];
}

export interface CreatedGeneration extends Generation {
  /** It was there under this key already; nothing was created or reserved now. */
  readonly isRepeated: boolean;
}

export interface CreateOptions {
  /**
   * 1 to 255 printable ASCII characters, an idempotency key of the account as in `POST /api/v1/generations`: while
   * `idempotency.ttlHours` last, the same input under it is created once, however often the call is repeated.
   */
  readonly key?: string;
  /** A request of the public API that this is part of; none by default. */
  readonly requestId?: RequestId;
  /**
   * An open transaction of the app: the generation is there, and its credits are reserved, once it is committed, with
   * what the app wrote in it; or not at all. @see UnitOfWork.join
   */
  readonly transaction?: HostTransaction;
}

export interface WaitOptions {
  /** The longest wait, in milliseconds; ten minutes by default. */
  readonly timeoutMs?: number;
  /** Ends the wait early. */
  readonly signal?: AbortSignal;
}

const WAIT_MS = 600_000;

export interface GenerationsDeps {
  readonly accept: Pick<AcceptGeneration, "execute">;
  readonly accounts: Pick<ManageAccounts, "get">;
  readonly read: Pick<ReadGenerations, "find" | "newest">;
  readonly waitForJob: Pick<WaitForJob, "wait">;
}

/**
 * Generations for an embedding app, which authenticates accounts by its own means. By the rules of the public API, but
 * for what its authentication asks for: an account that has not accepted the terms may generate here.
 */
export class Generations {
  constructor(private readonly deps: GenerationsDeps) {}

  /**
   * Reserves the credits and queues the generation. @see `POST /api/v1/generations`
   *
   * @param accountId who pays, and gets the tracks
   * @throws {OperationRefusedError} no such account
   * @throws {IdempotencyConflictError} the key was used for other values
   * @throws {IdempotencyKeyConflictError} the key was used for an input of another form, or in a request of the API
   * @throws {InvalidRequestError} {@link InvalidModelError} {@link TrackNotFoundError}
   *   {@link ProviderUnavailableError} {@link InsufficientCreditsError} {@link GenerationConcurrencyExceededError}
   *   {@link AccountSuspendedError} {@link ServiceUnavailableError}; nothing was reserved
   * @throws {OperationRefusedError} {@link TransactionLostError} the transaction cannot be joined, or has to be rolled
   *   back
   */
  async create(accountId: string, input: GenerationInput, options: CreateOptions = {}): Promise<CreatedGeneration> {
    const { key, requestId = null, transaction } = options;
    checkGenerationInput(input);
    const idempotency = key === undefined ? null : callIdempotency(key, input);
    if (requestId !== null && !isId("req", requestId))
      throw new InvalidRequestError([{ path: "requestId", message: "must be the id of a request" }]);
    const result = await this.deps.accept.execute({
      account: await this.deps.accounts.get(accountId),
      input,
      requestId,
      idempotency,
      limitExceeded: null,
      ...(transaction === undefined ? {} : { transaction }),
    });
    if (result.kind === "accepted") return { isRepeated: false, ...toGeneration(withoutResults(result.job)) };
    const isOpen = result.job?.completedAt === null;
    const repeated = isOpen ? toGeneration(withoutResults(result.job)) : await this.get(result.record.jobId);
    return { isRepeated: true, ...repeated };
  }

  /**
   * A generation or a split.
   *
   * @param accountId whose it has to be; any account's by default
   * @throws {JobNotFoundError} there is none of this id, or it is another account's
   */
  async get(id: string, { accountId }: { readonly accountId?: string } = {}): Promise<Generation> {
    const found = await this.deps.read.find(id);
    if (found === null || (accountId !== undefined && found.job.accountId !== accountId)) throw new JobNotFoundError();
    return toGeneration(found);
  }

  /** The newest generations of an account, splits left out. @param limit 1 to 50; 20 by default */
  async list(
    accountId: string,
    { limit = GENERATIONS_LIMIT.default }: { readonly limit?: number } = {},
  ): Promise<Generation[]> {
    const { minimum, maximum } = GENERATIONS_LIMIT;
    if (!Number.isInteger(limit) || limit < minimum || limit > maximum) {
      const message = `must be an integer from ${minimum} to ${maximum}`;
      throw new InvalidRequestError([{ path: "limit", message }]);
    }
    if (!isId("acct", accountId)) return [];
    return (await this.deps.read.newest(accountId, limit)).map(toGeneration);
  }

  /**
   * Waits until a generation or a split has ended, in whichever process. Look at its `status`: a wait that was aborted,
   * or that took too long, returns it as it is then.
   *
   * @throws {JobNotFoundError} there is none of this id
   * @throws {ServiceUnavailableError} the storage cannot be reached
   */
  async wait(id: string, { timeoutMs = WAIT_MS, signal }: WaitOptions = {}): Promise<Generation> {
    if (!isId("job", id)) throw new JobNotFoundError();
    await this.deps.waitForJob.wait(id, timeoutMs, signal);
    return this.get(id);
  }
}

function withoutResults(job: Job): JobWithTracks {
  return { job, tracks: [], outputs: [] };
}

/** Without what only the core needs of a job. */
export function toGeneration({ job, tracks, outputs }: JobWithTracks): Generation {
  const { id, accountId, kind, modelId, status, creditsCharged, request, error, createdAt, completedAt } = job;
  const times = { createdAt, completedAt };
  return { id, accountId, kind, modelId, status, creditsCharged, request, error, tracks, outputs, ...times };
}
