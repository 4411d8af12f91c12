import type { ProviderHealth } from "../ports/provider-health-store.js";

/** What is asked for at a provider: a model, or for a split the operation. */
export interface Offer {
  readonly providerId: string;
  /** null for a split. */
  readonly servedModelId: string | null;
  readonly operation: string;
}

/**
 * The key of an offer's stored health, in addition to its provider's: the model's id, for a split the provider's
 * and the operation's. Neither is the id of a provider.
 */
export function healthIdOf({ providerId, servedModelId, operation }: Offer): string {
  return servedModelId ?? `${providerId}:${operation}`;
}

/** @param openIds the ids, as those of {@link healthIdOf}, whose breakers are open */
export function isOffered(offer: Offer, openIds: ReadonlySet<string>): boolean {
  return !openIds.has(offer.providerId) && !openIds.has(healthIdOf(offer));
}

export interface BreakerPolicy {
  /** Failures in a row that open the breaker. */
  readonly failures: number;
  readonly openMs: number;
}

/**
 * Keeps work away from a provider that keeps failing, or from a model that a provider has not got any more. Closed:
 * work flows. Open: none, until `openMs` have passed. Half-open: one job of all processes is the trial; its success
 * closes the breaker, its failure opens it again. The state is shared by all processes through storage, so the rules
 * are functions of plain values.
 */
export type BreakerState = "closed" | "open" | "half_open";

export function healthyProvider(providerId: string): ProviderHealth {
  return { providerId, failures: 0, openedAt: null, trialUntil: null };
}

export function breakerState(health: ProviderHealth, policy: BreakerPolicy, now: number): BreakerState {
  if (health.openedAt === null) return "closed";
  return now < health.openedAt + policy.openMs ? "open" : "half_open";
}

/** The health after one more `unavailable` or `timeout`. */
export function afterFailure(health: ProviderHealth, policy: BreakerPolicy, now: number): ProviderHealth {
  const failures = health.failures + 1;
  const opens = failures >= policy.failures && breakerState(health, policy, now) !== "open";
  return opens ? { ...health, failures, openedAt: now, trialUntil: null } : { ...health, failures };
}

/** The health of a provider or a model that only the operator can fix: open at once. */
export function afterBreakdown(health: ProviderHealth, policy: BreakerPolicy, now: number): ProviderHealth {
  const failures = Math.max(policy.failures, health.failures + 1);
  return breakerState(health, policy, now) === "open"
    ? { ...health, failures }
    : { ...health, failures, openedAt: now, trialUntil: null };
}

/** The health after the provider did anything else than fail to be there; a refusal of content proves it alive. */
export function afterSuccess(health: ProviderHealth): ProviderHealth {
  return { ...health, failures: 0, openedAt: null, trialUntil: null };
}

/** The health once one job is let through a half-open breaker; null while it is not half-open or another job tries. */
export function beginTrial(health: ProviderHealth, policy: BreakerPolicy, now: number): ProviderHealth | null {
  if (breakerState(health, policy, now) !== "half_open") return null;
  if (health.trialUntil !== null && now < health.trialUntil) return null;
  return { ...health, trialUntil: now + policy.openMs };
}
