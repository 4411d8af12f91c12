import { checkIsOpen } from "../accounts/closed-account.js";
import type { Account } from "../ports/account.js";
import type { Tiers } from "../accounts/tiers.js";
import { assert } from "../assert.js";
import type { AuditEntry } from "../ports/audit-record.js";
import type { RecordsActions } from "../audit/audit-trail.js";
import {
  type FermataError,
  InvalidRequestError,
  OperationRefusedError,
  UnknownObjectError,
  ProviderUnavailableError,
  TrackNotFoundError,
} from "../errors.js";
import { checkClientAndMetadata } from "./request-rules.js";
import { isId } from "../ids.js";
import { maySee } from "../library/access.js";
import { assetOf, type Track } from "../library/track.js";
import type { AccountStore } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { AcceptJobs } from "../jobs/accept-jobs.js";
import type { Job, JobRequest, SplitKind } from "../jobs/job.js";
import { type AcceptCommand, newJob } from "../jobs/decide-acceptance.js";
import type { HostTransaction } from "../ports/unit-of-work.js";
import { type ShownJob, shownJob } from "../jobs/shown-job.js";
import type { ProviderAvailability } from "../providers/provider-availability.js";
import { firstOpenRoute, type Route, type Routes } from "../providers/routes.js";

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

export interface StartSplitDeps {
  readonly acceptJobs: AcceptJobs;
  readonly audit: Pick<RecordsActions, "alongside">;
  readonly accounts: AccountStore;
  readonly library: LibraryStore;
  readonly routes: Routes;
  readonly availability: Pick<ProviderAvailability, "isOffered">;
  readonly tiers: Tiers;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  /** Whole credits. */
  readonly costs: Readonly<Record<SplitKind, number>>;
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
    const { acceptJobs, tiers, clock, ids, costs } = this.deps;
    checkOptions(options);
    if (!isId("trk", trackId)) throw new TrackNotFoundError();
    const track = (await this.deps.library.findTracks([trackId])).get(trackId) ?? null;
    const account = await this.accountOf(accountId, track);
    const request: JobRequest = {
      ...NO_MUSIC,
      client: options.client ?? null,
      metadata: options.metadata ?? null,
      sourceTrackId: trackId,
    };
    const { route, refusal } = await this.routeOf(kind, request, track, account);
    // Under a reference the split may have been started before, when nothing stood against it.
    if (refusal !== null && options.reference === undefined) throw refusal;
    const command: AcceptCommand = {
      job: newJob({
        id: ids.next("job"),
        accountId: account.id,
        kind,
        modelId: kind,
        request,
        route,
        reference: options.reference ?? null,
        requestId: null,
        requestedAt: null,
        createdAt: clock.now(),
      }),
      cost: costs[kind],
      concurrencyLimit: tiers.of(account.tier).maxConcurrent,
      idempotency: null,
      refusal,
      alongside: this.deps.audit.alongside(recordOf),
    };
    const result = await acceptJobs.accept(command, transaction);
    if (result.kind === "refused") throw result.error;
    assert(result.kind !== "replayed", "a split has no idempotency key");
    return { ...shownJob(result.job), isRepeated: result.kind === "repeated" };
  }

  /** The route of the split, or the refusal. */
  private async routeOf(
    kind: SplitKind,
    request: JobRequest,
    track: Track | null,
    account: Account,
  ): Promise<FoundRoute> {
    const { routes, availability } = this.deps;
    if (track === null || !maySee(track, account.id) || assetOf(track, "mix") === null)
      return { route: null, refusal: new TrackNotFoundError() };
    const possible = routes.routesOf({ kind, modelId: kind, request }, track);
    if (possible.length === 0) {
      return {
        route: null,
        refusal: new OperationRefusedError(`No provider that is on can do a ${kind} of the track ${track.id}.`),
      };
    }
    const route = await firstOpenRoute(possible, availability);
    return { route, refusal: route === null ? new ProviderUnavailableError() : null };
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

interface FoundRoute {
  readonly route: Route | null;
  readonly refusal: FermataError | null;
}

const NO_MUSIC = {
  ...{ prompt: "", lyrics: null, durationSeconds: null, instrumental: false },
  ...{ options: {}, sourceUse: null },
} as const;

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
