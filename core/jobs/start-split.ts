import type { Tiers } from "../accounts/tiers.js";
import { InvalidRequestError, OperationRefusedError, ProviderUnavailableError, TrackNotFoundError } from "../errors.js";
import { checkClientAndMetadata } from "../generations/request-rules.js";
import { type AccountId, isId } from "../ids.js";
import { maySee } from "../library/access.js";
import { assetOf, type Track } from "../library/track.js";
import type { AccountStore } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { AcceptJobs } from "./accept-jobs.js";
import type { Job, JobRequest, SplitKind } from "./job.js";
import { newJob } from "./new-job.js";
import type { ProviderAvailability } from "../providers/provider-availability.js";
import { firstOpenRoute, type Routes } from "../providers/routes.js";

export interface SplitOptions {
  /** Label of the calling integration, 1 to 100 characters; comes back in webhook events. */
  readonly client?: string;
  readonly metadata?: { readonly [key: string]: unknown };
}

export interface SplitRequest extends SplitOptions {
  readonly kind: SplitKind;
  /** null: the track's owner. */
  readonly accountId: string | null;
  readonly trackId: string;
}

export interface StartSplitParts {
  readonly acceptJobs: AcceptJobs;
  readonly accounts: AccountStore;
  readonly library: LibraryStore;
  readonly routes: Routes;
  readonly availability: Pick<ProviderAvailability, "state">;
  readonly tiers: Tiers;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  /** Whole credits. */
  readonly costs: Readonly<Record<SplitKind, number>>;
}

/** Starts stem splits and vocal removals: the same credits, concurrency and refunds as a generation. @see decisions, "Jobs, providers, 502" */
export class StartSplit {
  constructor(private readonly parts: StartSplitParts) {}

  /**
   * @throws {TrackNotFoundError} no such track, or the account may not play it
   * @throws {OperationRefusedError} no such account; the track belongs to nobody and no account was named; no provider can take it apart
   * @throws {ProviderUnavailableError} all that can are known to be down
   * @throws {@link InvalidRequestError} {@link InsufficientCreditsError} {@link GenerationConcurrencyExceededError} {@link ServiceUnavailableError}
   */
  async start({ kind, accountId, trackId, ...options }: SplitRequest): Promise<Job> {
    const { acceptJobs, routes, availability, tiers, clock, ids, costs } = this.parts;
    checkOptions(options);
    const track = await this.trackOf(trackId);
    const account = await this.accountOf(accountId, track);
    if (!maySee(track, account.id) || assetOf(track, "mix") === null) throw new TrackNotFoundError();
    const request: JobRequest = { ...NO_MUSIC, client: options.client ?? null, metadata: options.metadata ?? null, sourceTrackId: track.id };
    const possible = routes.routesOf({ kind, modelId: kind, request }, track);
    if (possible.length === 0) throw new OperationRefusedError(`No provider that is on can do a ${kind} of the track ${track.id}.`);
    const route = await firstOpenRoute(possible, availability);
    const result = await acceptJobs.accept({
      job: newJob({
        id: ids.next("job"),
        accountId: account.id,
        kind,
        modelId: kind,
        request,
        route,
        requestId: null,
        requestedAt: null,
        createdAt: clock.now(),
      }),
      cost: costs[kind],
      concurrencyLimit: tiers.of(account.tier).maxConcurrent,
      idempotency: null,
      refusal: route === null ? new ProviderUnavailableError() : null,
    });
    if (result.kind === "refused") throw result.error;
    if (result.kind === "replayed") throw new Error("A split has no idempotency key to be replayed by.");
    return result.job;
  }

  private async trackOf(trackId: string): Promise<Track> {
    const track = isId("trk", trackId) ? (await this.parts.library.findTracks([trackId])).get(trackId) : undefined;
    if (track === undefined) throw new TrackNotFoundError();
    return track;
  }

  private async accountOf(given: string | null, track: Track): Promise<{ readonly id: AccountId; readonly tier: string }> {
    const id = given ?? track.accountId;
    if (id === null) throw new OperationRefusedError(`The track ${track.id} belongs to nobody. Name the account that pays.`);
    const account = isId("acct", id) ? (await this.parts.accounts.findAccounts([id])).get(id) : undefined;
    if (account === undefined) throw new OperationRefusedError(`There is no account ${id}.`);
    return account;
  }
}

const NO_MUSIC = { prompt: "", lyrics: null, durationSeconds: null, instrumental: false } as const;

function checkOptions({ client, metadata }: SplitOptions): void {
  const issues = checkClientAndMetadata({ client, metadata });
  if (issues.length > 0) throw new InvalidRequestError(issues);
}
