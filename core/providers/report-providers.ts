import type { Clock } from "../ports/clock.js";
import type { JobStore, ProviderWork } from "../ports/job-store.js";
import type { ProviderHealth, ProviderHealthStore } from "../ports/provider-health-store.js";
import type { Catalogue } from "./catalogue.js";
import { type BreakerPolicy, type BreakerState, breakerState, healthyProvider } from "./circuit-breaker.js";

/** A provider as operators see it. */
export interface ProviderReport {
  readonly id: string;
  readonly label: string;
  /** False: its plugin is off. */
  readonly enabled: boolean;
  /** Ids of its models. */
  readonly models: readonly string[];
  /** Jobs at the provider at once, in all processes together; null: as many as there are. */
  readonly maxInFlight: number | null;
  readonly breaker: {
    readonly state: BreakerState;
    /** Failures in a row. */
    readonly failures: number;
    /** When it opened; null while it is closed. */
    readonly openedAt: number | null;
    /** When one job may try again; null while it is closed. */
    readonly triesAt: number | null;
  };
  /** What of it is unavailable by itself: ids of models, and of operations as `provider:operation`. */
  readonly unavailable: readonly string[];
  /** Its jobs, in all processes together; more than 10,000 of a kind are not counted. */
  readonly work: ProviderWork;
  /** For how long the waiting job that is due the longest has been due, in milliseconds; 0 when none is. */
  readonly queueAgeMs: number;
}

export interface ReportProvidersDeps {
  readonly catalogue: Pick<Catalogue, "providers">;
  readonly health: Pick<ProviderHealthStore, "listHealth">;
  readonly jobs: Pick<JobStore, "countWork" | "waitingSince">;
  readonly clock: Clock;
  readonly breaker: BreakerPolicy;
}

const COUNT_MAX = 10_000;

/** Providers with the state of their circuit breakers, and what they have to do. */
export class ReportProviders {
  constructor(private readonly deps: ReportProvidersDeps) {}

  /** All in config, those that are off included, in its order. */
  async list(): Promise<ProviderReport[]> {
    const { catalogue, health, jobs, clock, breaker } = this.deps;
    const now = clock.now();
    const stored = await health.listHealth();
    const stateOf = (one: ProviderHealth): BreakerState => breakerState(one, breaker, now);
    return Promise.all(
      catalogue.providers.map(async ({ id, label, enabled, models, maxInFlight = null }) => {
        const own = stored.find(({ providerId }) => providerId === id) ?? healthyProvider(id);
        const ids = models.map((model) => model.id);
        const [work, since] = await Promise.all([jobs.countWork(id, COUNT_MAX), jobs.waitingSince(id)]);
        const isOfIt = (name: string): boolean => ids.includes(name) || name.startsWith(`${id}:`);
        return {
          id,
          label,
          enabled,
          models: ids,
          maxInFlight,
          breaker: {
            state: stateOf(own),
            failures: own.failures,
            openedAt: own.openedAt,
            triesAt: own.openedAt === null ? null : own.openedAt + breaker.openMs,
          },
          unavailable: stored
            .filter((one) => isOfIt(one.providerId) && stateOf(one) !== "closed")
            .map(({ providerId }) => providerId),
          work,
          queueAgeMs: since === null ? 0 : Math.max(0, now - since),
        };
      }),
    );
  }
}
