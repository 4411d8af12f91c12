/**
 * Keeps work away from a provider that keeps failing. Closed: work flows. Open: none, until `openMs` have passed. Half-open: one
 * job tries; its success closes the breaker, its failure opens it anew. The state is shared by all processes through
 * storage, so the rules are functions of plain values.
 */
export interface ProviderHealth {
  readonly providerId: string;
  /** Failures in a row. */
  readonly failures: number;
  /** Set while open or half-open. */
  readonly openedAt: number | null;
}

export interface BreakerPolicy {
  /** Failures in a row that open the breaker. */
  readonly failures: number;
  readonly openMs: number;
}

export type BreakerState = "closed" | "open" | "half_open";

export function healthyProvider(providerId: string): ProviderHealth {
  return { providerId, failures: 0, openedAt: null };
}

export function breakerState(health: ProviderHealth, policy: BreakerPolicy, now: number): BreakerState {
  if (health.openedAt === null) return "closed";
  return now < health.openedAt + policy.openMs ? "open" : "half_open";
}

/** The health after one more `unavailable` or `timeout`. */
export function afterFailure(health: ProviderHealth, policy: BreakerPolicy, now: number): ProviderHealth {
  const failures = health.failures + 1;
  const opens = failures >= policy.failures && breakerState(health, policy, now) !== "open";
  return { ...health, failures, openedAt: opens ? now : health.openedAt };
}

/** The health after the provider did anything else than fail to be there; a refusal of content proves it alive. */
export function afterSuccess(health: ProviderHealth): ProviderHealth {
  return { ...health, failures: 0, openedAt: null };
}
