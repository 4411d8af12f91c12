import type { Clock } from "../ports/clock.js";
import type { ProviderHealthStore } from "../ports/provider-health-store.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import {
  afterFailure,
  afterSuccess,
  type BreakerPolicy,
  type BreakerState,
  breakerState,
  healthyProvider,
  type ProviderHealth,
} from "./circuit-breaker.js";

const CACHE_MS = 1_000;

/** The circuit breakers of all providers, as this process sees them: at most a second behind the other processes. */
export class ProviderAvailability {
  private health = new Map<string, ProviderHealth>();
  private readAt = Number.NEGATIVE_INFINITY;
  private reading: Promise<void> | null = null;

  constructor(
    private readonly store: ProviderHealthStore,
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly policy: BreakerPolicy,
  ) {}

  async state(providerId: string): Promise<BreakerState> {
    if (this.clock.now() - this.readAt >= CACHE_MS) await this.refresh();
    const health = this.health.get(providerId);
    return health === undefined ? "closed" : breakerState(health, this.policy, this.clock.now());
  }

  /** Counts an `unavailable` or `timeout`. @returns true when it opened the breaker */
  async recordFailure(providerId: string): Promise<boolean> {
    return this.change(providerId, (health) => afterFailure(health, this.policy, this.clock.now()));
  }

  /** Takes note that the provider is there; writes nothing while it was well anyway. */
  async recordSuccess(providerId: string): Promise<void> {
    if ((this.health.get(providerId)?.failures ?? 0) > 0) await this.change(providerId, afterSuccess);
  }

  private async change(providerId: string, rule: (health: ProviderHealth) => ProviderHealth): Promise<boolean> {
    const { before, after } = await this.unitOfWork.inTransaction(async (tx) => {
      const locked = (await this.store.lockHealth(tx, providerId)) ?? healthyProvider(providerId);
      const changed = rule(locked);
      await this.store.saveHealth(tx, changed);
      return { before: locked, after: changed };
    });
    this.health.set(providerId, after);
    return after.openedAt !== null && after.openedAt !== before.openedAt;
  }

  private refresh(): Promise<void> {
    this.reading ??= this.store
      .listHealth()
      .then((list) => {
        this.health = new Map(list.map((health) => [health.providerId, health]));
        this.readAt = this.clock.now();
      })
      .finally(() => {
        this.reading = null;
      });
    return this.reading;
  }
}
