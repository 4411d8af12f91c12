import type { Account } from "../ports/account.js";
import type { Tiers } from "../accounts/tiers.js";
import { type FermataError, OperationRefusedError, ProviderUnavailableError, TrackNotFoundError } from "../errors.js";
import type { RequestId, TrackId } from "../ids.js";
import { type AcceptCommand, newJob } from "../jobs/decide-acceptance.js";
import type { JobRequest, SplitKind } from "../jobs/job.js";
import { maySee } from "../library/access.js";
import { assetOf, type Track } from "../library/track.js";
import type { Clock } from "../ports/clock.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { ProviderAvailability } from "../providers/provider-availability.js";
import { firstOpenRoute, type Route, type Routes } from "../providers/routes.js";

export interface SplitJobDeps {
  readonly library: Pick<LibraryStore, "findTracks">;
  readonly routes: Routes;
  readonly availability: Pick<ProviderAvailability, "isOffered">;
  readonly tiers: Tiers;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  /** Whole credits. */
  readonly costs: Readonly<Record<SplitKind, number>>;
}

/** A split whose account and options are checked. */
export interface CheckedSplit {
  readonly kind: SplitKind;
  readonly account: Account;
  readonly trackId: TrackId;
  /** null: there is none of this id. */
  readonly track: Track | null;
  readonly client?: string | undefined;
  readonly metadata?: { readonly [key: string]: unknown } | undefined;
  readonly reference?: string | undefined;
  readonly requestId?: RequestId | null;
  /** When its request arrived. */
  readonly requestedAt?: number | null;
}

/** The job of a split, which asks to be accepted; its `refusal` is what stands against it. */
export async function splitCommand(
  deps: SplitJobDeps,
  { kind, account, trackId, track, ...given }: CheckedSplit,
): Promise<AcceptCommand> {
  const request: JobRequest = {
    ...NO_MUSIC,
    client: given.client ?? null,
    metadata: given.metadata ?? null,
    sourceTrackId: trackId,
  };
  const { route, refusal } = await routeOf(deps, kind, request, track, account);
  return {
    job: newJob({
      id: deps.ids.next("job"),
      accountId: account.id,
      kind,
      modelId: kind,
      request,
      route,
      reference: given.reference ?? null,
      requestId: given.requestId ?? null,
      requestedAt: given.requestedAt ?? null,
      // A job is never older than its request, even if the clock was set back meanwhile.
      createdAt: Math.max(deps.clock.now(), given.requestedAt ?? 0),
    }),
    cost: deps.costs[kind],
    concurrencyLimit: deps.tiers.of(account.tier).maxConcurrent,
    idempotency: null,
    refusal,
  };
}

/** The route of the split, or the refusal. */
async function routeOf(
  { routes, availability }: Pick<SplitJobDeps, "routes" | "availability">,
  kind: SplitKind,
  request: JobRequest,
  track: Track | null,
  account: Account,
): Promise<{ readonly route: Route | null; readonly refusal: FermataError | null }> {
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

const NO_MUSIC = {
  ...{ prompt: "", lyrics: null, durationSeconds: null, instrumental: false },
  ...{ options: {}, sourceUse: null },
} as const;
