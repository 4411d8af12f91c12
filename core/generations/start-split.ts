import { checkIsOpen } from "../accounts/closed-account.js";
import type { Account } from "../ports/account.js";
import { assert } from "../assert.js";
import type { AuditEntry } from "../ports/audit-record.js";
import type { RecordsActions } from "../audit/audit-trail.js";
import { InvalidRequestError, OperationRefusedError, UnknownObjectError, TrackNotFoundError } from "../errors.js";
import { checkClientAndMetadata } from "./request-rules.js";
import { isId } from "../ids.js";
import type { Track } from "../library/track.js";
import type { AccountStore } from "../ports/account-store.js";
import type { AcceptJobs } from "../jobs/accept-jobs.js";
import type { Job, SplitKind } from "../jobs/job.js";
import type { AcceptCommand } from "../jobs/decide-acceptance.js";
import type { HostTransaction } from "../ports/unit-of-work.js";
import { type ShownJob, shownJob } from "../jobs/shown-job.js";
import { splitCommand, type SplitJobDeps } from "./split-job.js";

export interface SplitOptions {
  /** Label of the calling integration, 1 to 100 characters; comes back in webhook events. */
  readonly client?: string;
  readonly metadata?: { readonly [key: string]: unknown };
  /**
   * What the account calls this split (`order 17`), 1 to 255 printable ASCII characters: it is started once under one
   * reference, however often the call is repeated.
   */
  readonly reference?: string;
  /** An open transaction of the embedding app, with which the split is there or not. @see UnitOfWork.join */
  readonly transaction?: HostTransaction;
}

export interface SplitRequest extends SplitOptions {
  readonly kind: SplitKind;
  /** null: the track's owner. */
  readonly accountId: string | null;
  readonly trackId: string;
}

/** The job of a split. */
export interface StartedSplit extends ShownJob {
  /** The job was there under this reference already; nothing was started or charged now. */
  readonly isRepeated: boolean;
}

export interface StartSplitDeps extends SplitJobDeps {
  readonly acceptJobs: AcceptJobs;
  readonly audit: Pick<RecordsActions, "alongside">;
  readonly accounts: AccountStore;
}

/**
 * Starts stem splits and vocal removals: the same credits, concurrency and refunds as a generation. @see decisions,
 * "Jobs, providers, 502"
 */
export class StartSplit {
  constructor(private readonly deps: StartSplitDeps) {}

  /**
   * Splits a track into stems, or into vocals and the rest; `GET /jobs/{id}` polls the job. With a reference that the
   * account used before for the same kind and track, the earlier job is returned, in any state of it and of the track
   * since.
   *
   * @throws {TrackNotFoundError} no such track, or the account may not play it
   * @throws {OperationRefusedError} no such account; the track has no owner and no account was named; no provider can
   *   split it; the reference has other characters, or was used for another kind or track; the transaction cannot be
   *   joined
   * @throws {TransactionLostError} the transaction has to be rolled back
   * @throws {AccountSuspendedError}
   * @throws {ProviderUnavailableError} all that can are known to be down
   * @throws {@link InvalidRequestError} {@link InsufficientCreditsError} {@link GenerationConcurrencyExceededError}
   *   {@link ServiceUnavailableError}
   */
  async start({ kind, accountId, trackId, transaction, ...options }: SplitRequest): Promise<StartedSplit> {
    checkOptions(options);
    if (!isId("trk", trackId)) throw new TrackNotFoundError();
    const track = (await this.deps.library.findTracks([trackId])).get(trackId) ?? null;
    const account = await this.accountOf(accountId, track);
    const command = await splitCommand(this.deps, { kind, account, trackId, track, ...options });
    // What stands against the split refuses it there, unless it was started before under its reference.
    const recorded: AcceptCommand = { ...command, alongside: this.deps.audit.alongside(recordOf) };
    const result = await this.deps.acceptJobs.accept(recorded, transaction);
    if (result.kind === "refused") throw result.error;
    assert(result.kind !== "replayed", "a split has no idempotency key");
    return { ...shownJob(result.job), isRepeated: result.kind === "repeated" };
  }

  private async accountOf(given: string | null, track: Track | null): Promise<Account> {
    if (given === null && track === null) throw new TrackNotFoundError();
    const id = given ?? track?.accountId ?? null;
    if (id === null)
      throw new OperationRefusedError(`The track ${track?.id} has no owner. Name the account that pays.`);
    const account = isId("acct", id) ? (await this.deps.accounts.findAccounts([id])).get(id) : undefined;
    if (account === undefined) throw new UnknownObjectError(`There is no account ${id}.`);
    checkIsOpen(account);
    return account;
  }
}

const REFERENCE = /^[\x20-\x7e]{1,255}$/;

function recordOf({ id, accountId, kind, request, creditsCharged }: Job): AuditEntry {
  const fields = { kind, track: request.sourceTrackId, credits: creditsCharged };
  return { action: "splits.start", accountId, targets: [id], fields };
}

function checkOptions({ client, metadata, reference }: SplitOptions): void {
  const issues = checkClientAndMetadata({ client, metadata });
  if (issues.length > 0) throw new InvalidRequestError(issues);
  if (reference !== undefined && !REFERENCE.test(reference)) {
    throw new OperationRefusedError("A reference has 1 to 255 printable ASCII characters.");
  }
}
