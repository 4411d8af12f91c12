import { checkIsOpen } from "../accounts/closed-account.js";
import type { Account } from "../ports/account.js";
import type { Tiers } from "../accounts/tiers.js";
import { assert } from "../assert.js";
import type { Alongside } from "../audit/audit-trail.js";
import { FermataError, ProviderUnavailableError, type RateLimitedError, ServiceUnavailableError } from "../errors.js";
import { type GivenIdempotency, keptIdempotency } from "../idempotency/given-idempotency.js";
import type { RequestId } from "../ids.js";
import type { AcceptJobs } from "../jobs/accept-jobs.js";
import type { AcceptCommand, AcceptIdempotency, AcceptResult } from "../jobs/decide-acceptance.js";
import type { Job, JobRequest } from "../jobs/job.js";
import { newJob } from "../jobs/decide-acceptance.js";
import type { ProviderAvailability } from "../providers/provider-availability.js";
import { type Routes, openRoutes, type Route } from "../providers/routes.js";
import type { Backlog } from "../providers/backlog.js";
import { type Catalogue, checkModelBounds, type Model } from "../providers/catalogue.js";
import { priceOf } from "../providers/prices.js";
import { referenceIssues } from "../providers/sources.js";
import type { Track } from "../library/track.js";
import type { ReferenceMode } from "../ports/music-provider.js";
import type { Clock } from "../ports/clock.js";
import type { Digest } from "../ports/digest.js";
import type { HostTransaction } from "../ports/unit-of-work.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { IdGenerator } from "../ports/id-generator.js";
import { checkPlayable, refuseIf, sourceUseOf } from "./reference-rules.js";
import { checkGenerationInput, type GenerationInput, givenOptions } from "./request-rules.js";

export interface AcceptGenerationRequest {
  readonly account: Account;
  readonly input: GenerationInput;
  readonly requestId: RequestId | null;
  /** When the request arrived; now by default. */
  readonly requestedAt?: number;
  /** null for an embedding app that needs no replay. */
  readonly idempotency: GivenIdempotency | null;
  /** Set when the request exceeds a rate limit: only a replay is still returned. */
  readonly limitExceeded: RateLimitedError | null;
  /** Written in the transaction that accepts the job. */
  readonly alongside?: Alongside<Job>;
  /** Of an embedding app: the job is there with it or not. */
  readonly transaction?: HostTransaction;
}

export type AcceptedGeneration = Exclude<AcceptResult, { kind: "refused" | "repeated" }>;

export interface AcceptGenerationDeps {
  readonly acceptJobs: AcceptJobs;
  readonly catalogue: Catalogue;
  readonly library: Pick<LibraryStore, "findTracks">;
  readonly routes: Routes;
  readonly availability: ProviderAvailability;
  readonly backlog: Backlog;
  readonly tiers: Tiers;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly digest: Digest;
  readonly idempotencyTtlMs: number;
}

/** Creates a generation, for the public API, operators and embedding apps. */
export class AcceptGeneration {
  constructor(private readonly deps: AcceptGenerationDeps) {}

  /**
   * @throws {@link InvalidRequestError} {@link InvalidModelError} {@link TrackNotFoundError}
   *   {@link ProviderUnavailableError} {@link InsufficientCreditsError}
   *   {@link GenerationConcurrencyExceededError} {@link IdempotencyConflictError} {@link IdempotencyKeyConflictError}
   *   {@link AccountSuspendedError} {@link RateLimitedError} {@link ServiceUnavailableError}; nothing was reserved
   * @throws as {@link joinTransaction}
   */
  async execute(request: AcceptGenerationRequest): Promise<AcceptedGeneration> {
    // An embedding app has authenticated the account by its own means.
    checkIsOpen(request.account);
    checkGenerationInput(request.input);
    const { acceptJobs, clock } = this.deps;
    const { account, transaction } = request;
    // A job is never older than its request, even if the clock was set back meanwhile.
    const now = Math.max(clock.now(), request.requestedAt ?? 0);
    const idempotency = request.idempotency === null ? null : keptIdempotency(this.deps, request.idempotency, now);
    if (idempotency !== null && transaction === undefined) {
      const replayed = await acceptJobs.replayKnown(account.id, idempotency);
      if (replayed !== null) return replayed;
    }
    const result = await acceptJobs.accept(await this.toCommand(request, idempotency, now), transaction);
    if (result.kind === "refused") throw result.error;
    assert(result.kind !== "repeated", "a generation has an idempotency key, no reference");
    return result;
  }

  private async toCommand(
    request: AcceptGenerationRequest,
    idempotency: AcceptIdempotency | null,
    now: number,
  ): Promise<AcceptCommand> {
    const { deps } = this;
    const jobRequest = toJobRequest(request.input);
    const { model, route, refusal } = await this.check(request, jobRequest);
    return {
      job: newJob({
        id: deps.ids.next("job"),
        accountId: request.account.id,
        kind: "music",
        modelId: request.input.modelId,
        request: jobRequest,
        route,
        reference: null,
        requestId: request.requestId,
        requestedAt: request.requestId === null ? null : (request.requestedAt ?? now),
        createdAt: now,
      }),
      cost: model === null ? 0 : priceOf(model, modeOf(request.input)),
      concurrencyLimit: deps.tiers.of(request.account.tier).maxConcurrent,
      refusal: request.limitExceeded ?? refusal,
      idempotency,
      ...(request.alongside === undefined ? {} : { alongside: request.alongside }),
    };
  }

  /** The model and its route, or the refusal. The refusal is returned, not thrown, because a replay comes first. */
  private async check(
    request: AcceptGenerationRequest,
    jobRequest: JobRequest,
  ): Promise<{ readonly model: Model | null; readonly route: Route | null; readonly refusal: FermataError | null }> {
    const { catalogue, routes, availability } = this.deps;
    let model: Model | null = null;
    try {
      model = catalogue.requested(request.input.modelId);
      checkModelBounds(model, jobRequest);
      const source = await this.sourceOf(model, jobRequest, request.account);
      const possible = routes.routesOf({ kind: "music", modelId: model.id, request: jobRequest }, source);
      const open = await openRoutes(possible, availability);
      if (open.length === 0) return { model, route: null, refusal: new ProviderUnavailableError() };
      const found = await this.deps.backlog.firstInTime(open);
      return "route" in found
        ? { model, route: found.route, refusal: null }
        : { model, route: null, refusal: tooMuchWaits(found.waitMs) };
    } catch (error) {
      if (!FermataError.is(error)) throw error;
      return { model, route: null, refusal: error };
    }
  }

  /**
   * The track that a request works from; null where it names none.
   *
   * @throws {TrackNotFoundError} no such track, or the account may not play it
   * @throws {InvalidRequestError} the model cannot do this with the track
   */
  private async sourceOf(model: Model, request: JobRequest, account: Account): Promise<Track | null> {
    const { sourceTrackId: id, sourceUse: use } = request;
    if (use === null) return null;
    const track = id === null ? null : ((await this.deps.library.findTracks([id])).get(id) ?? null);
    checkPlayable(track, account.id);
    refuseIf(referenceIssues(model, this.deps.catalogue.takerOf(model), use, track));
    return track;
  }
}

/** A job that could not start before its deadline would only be refunded. */
function tooMuchWaits(waitMs: number): ServiceUnavailableError {
  return new ServiceUnavailableError("Too many jobs wait for this model. Try again later.", Math.ceil(waitMs / 1000));
}

function modeOf({ reference }: GenerationInput): ReferenceMode | null {
  return (reference?.mode ?? null) as ReferenceMode | null;
}

function toJobRequest(input: GenerationInput): JobRequest {
  return {
    prompt: input.prompt,
    lyrics: input.lyrics ?? null,
    durationSeconds: input.duration ?? null,
    instrumental: input.instrumental ?? false,
    client: input.client ?? null,
    metadata: input.metadata ?? null,
    options: givenOptions(input),
    ...sourceUseOf(input.reference),
  };
}
