import type { Clock } from "../ports/clock.js";
import type { ProviderHealthStore, ProviderHealth } from "../ports/provider-health-store.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import {
  afterBreakdown,
  afterFailure,
  afterSuccess,
  beginTrial,
  type BreakerPolicy,
  type BreakerState,
  breakerState,
  healthyProvider,
  isOffered,
  type Offer,
} from "./circuit-breaker.js";

const CACHE_MS = 1_000;

export interface ProviderAvailabilityDeps {
  readonly store: ProviderHealthStore;
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly policy: BreakerPolicy;
}

/**
 * The circuit breakers of all providers, and of their models and operations ({@link healthIdOf}), as this process sees
 * them: at most a second behind the other processes.
 */
export class ProviderAvailability {
  private health = new Map<string, ProviderHealth>();
  private open: ReadonlySet<string> = new Set();
  private readAt = Number.NEGATIVE_INFINITY;
  private reading: Promise<void> | null = null;

  constructor(private readonly deps: ProviderAvailabilityDeps) {}

  async state(providerId: string): Promise<BreakerState> {
    if (this.deps.clock.now() - this.readAt >= CACHE_MS) await this.refresh();
    const health = this.health.get(providerId);
    return health === undefined ? "closed" : breakerState(health, this.deps.policy, this.deps.clock.now());
  }

  /** False while the provider is unavailable, or has not got the model or the operation any more. */
  async isOffered(offer: Offer): Promise<boolean> {
    return isOffered(offer, await this.openIds());
  }

  /** What {@link isOffered} goes by: the ids whose breakers are open. The same set for as long as it is equal. */
  async openIds(): Promise<ReadonlySet<string>> {
    if (this.deps.clock.now() - this.readAt >= CACHE_MS) await this.refresh();
    const { policy, clock } = this.deps;
    const now = clock.now();
    const open: string[] = [];
    for (const [id, health] of this.health) if (breakerState(health, policy, now) === "open") open.push(id);
    if (open.length !== this.open.size || open.some((id) => !this.open.has(id))) this.open = new Set(open);
    return this.open;
  }

  /** Counts an `unavailable` or `timeout`. @returns true when it opened the breaker */
  async recordFailure(providerId: string): Promise<boolean> {
    return this.change(providerId, (health) => afterFailure(health, this.deps.policy, this.deps.clock.now()));
  }

  /** Opens the breaker at once, until a worker tries again. */
  async recordBroken(providerId: string): Promise<void> {
    await this.change(providerId, (health) => afterBreakdown(health, this.deps.policy, this.deps.clock.now()));
  }

  /** Records that the provider, or the model, is there; writes nothing while it was well anyway. */
  async recordSuccess(providerId: string): Promise<void> {
    if ((this.health.get(providerId)?.failures ?? 0) > 0) await this.change(providerId, afterSuccess);
  }

  /**
   * Requests the trial that a half-open breaker allows. @returns false when there is none, or another process has it
   */
  async takeTrial(providerId: string): Promise<boolean> {
    const { before, after } = await this.write(
      providerId,
      (health) => beginTrial(health, this.deps.policy, this.deps.clock.now()) ?? health,
    );
    return after !== before;
  }

  /** Releases a trial for which no job was found. */
  async returnTrial(providerId: string): Promise<void> {
    await this.write(providerId, (health) => ({ ...health, trialUntil: null }));
  }

  private async change(providerId: string, rule: (health: ProviderHealth) => ProviderHealth): Promise<boolean> {
    const { before, after } = await this.write(providerId, rule);
    return after.openedAt !== null && after.openedAt !== before.openedAt;
  }

  private async write(
    providerId: string,
    rule: (health: ProviderHealth) => ProviderHealth,
  ): Promise<{ readonly before: ProviderHealth; readonly after: ProviderHealth }> {
    const written = await this.deps.unitOfWork.inTransaction(async (tx) => {
      const before = (await this.deps.store.lockHealth(tx, providerId)) ?? healthyProvider(providerId);
      const after = rule(before);
      if (after !== before) await this.deps.store.saveHealth(tx, after);
      return { before, after };
    });
    this.health.set(providerId, written.after);
    return written;
  }

  private refresh(): Promise<void> {
    this.reading ??= this.deps.store
      .listHealth()
      .then((list) => {
        this.health = new Map(list.map((health) => [health.providerId, health]));
        this.readAt = this.deps.clock.now();
      })
      .finally(() => {
        this.reading = null;
      });
    return this.reading;
  }
}
