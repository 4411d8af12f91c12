import type { Account } from "../ports/account.js";
import { checkIsOpen } from "../accounts/closed-account.js";
import { assert } from "../assert.js";
import {
  type FermataError,
  InvalidRequestError,
  OperationRefusedError,
  type RateLimitedError,
  TrackNotFoundError,
} from "../errors.js";
import { type GivenIdempotency, keptIdempotency, type KeptIdempotencyDeps } from "../idempotency/given-idempotency.js";
import { isId, type RequestId } from "../ids.js";
import type { AcceptJobs } from "../jobs/accept-jobs.js";
import type { SplitKind } from "../jobs/job.js";
import { assetOf, type Track } from "../library/track.js";
import { firstOpenRoute } from "../providers/routes.js";
import type { AcceptedGeneration } from "./accept-generation.js";
import { checkClientAndMetadata } from "./request-rules.js";
import { splitCommand, type SplitJobDeps } from "./split-job.js";

/** A split that an account asks for itself. */
export interface AcceptSplitRequest {
  readonly account: Account;
  readonly kind: SplitKind;
  readonly trackId: string;
  readonly client?: string | undefined;
  readonly metadata?: { readonly [key: string]: unknown } | undefined;
  readonly requestId: RequestId;
  /** When the request arrived. */
  readonly requestedAt: number;
  readonly idempotency: GivenIdempotency;
  /** Set when the request exceeds a rate limit: only a replay is still returned. */
  readonly limitExceeded: RateLimitedError | null;
}

/** A way to split a track. */
export interface SplitOffer {
  readonly kind: SplitKind;
  /** Whole credits. */
  readonly creditCost: number;
  /** `unavailable`: every provider that can is known to be down. */
  readonly status: "available" | "unavailable";
}

export interface AcceptSplitDeps extends SplitJobDeps, KeptIdempotencyDeps {
  readonly acceptJobs: AcceptJobs;
}

const KINDS: readonly SplitKind[] = ["stem_split", "vocal_removal"];

/** Splits over the public API, under idempotency keys: by the rules of {@link AcceptGeneration}. */
export class AcceptSplit {
  constructor(private readonly deps: AcceptSplitDeps) {}

  /**
   * @throws {TrackNotFoundError} no such track, or the account may not play it
   * @throws {InvalidRequestError} the body is not valid, or no provider can split the track
   * @throws {@link ProviderUnavailableError} {@link InsufficientCreditsError}
   *   {@link GenerationConcurrencyExceededError} {@link IdempotencyConflictError} {@link IdempotencyKeyConflictError}
   *   {@link AccountSuspendedError} {@link RateLimitedError} {@link ServiceUnavailableError}; nothing was reserved
   */
  async execute({ limitExceeded, idempotency, ...given }: AcceptSplitRequest): Promise<AcceptedGeneration> {
    const { account, trackId } = given;
    const { acceptJobs, clock, library } = this.deps;
    checkIsOpen(account);
    const issues = checkClientAndMetadata(given);
    if (issues.length > 0) throw new InvalidRequestError(issues);
    if (!isId("trk", trackId)) throw limitExceeded ?? new TrackNotFoundError();
    const kept = keptIdempotency(this.deps, idempotency, Math.max(clock.now(), given.requestedAt));
    const replayed = await acceptJobs.replayKnown(account.id, kept);
    if (replayed !== null) return replayed;
    const track = (await library.findTracks([trackId])).get(trackId) ?? null;
    const command = await splitCommand(this.deps, { ...given, trackId, track });
    const refusal = limitExceeded ?? asInvalid(command.refusal);
    const result = await acceptJobs.accept({ ...command, refusal, idempotency: kept });
    if (result.kind === "refused") throw result.error;
    assert(result.kind !== "repeated", "a split of the API has an idempotency key, no reference");
    return result;
  }

  /** How a track that the account may play can be split on this installation, and for how much. */
  async offersFor(track: Track): Promise<SplitOffer[]> {
    const { routes, availability, costs } = this.deps;
    if (assetOf(track, "mix") === null) return [];
    const possible = KINDS.map((kind) => ({
      kind,
      routes: routes.routesOf({ kind, modelId: kind, request: null }, track),
    }));
    return Promise.all(
      possible
        .filter((each) => each.routes.length > 0)
        .map(async ({ kind, routes: found }) => ({
          kind,
          creditCost: costs[kind],
          status: (await firstOpenRoute(found, availability)) === null ? "unavailable" : "available",
        })),
    );
  }
}

/** For a caller it is a track that cannot be split; an operator gets words of its own. */
function asInvalid(refusal: FermataError | null): FermataError | null {
  if (!(refusal instanceof OperationRefusedError)) return refusal;
  return new InvalidRequestError([
    { path: "path.id", message: "is a track that no provider here can split in this way" },
  ]);
}
