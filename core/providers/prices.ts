import type { ProviderModel, ReferenceMode } from "../ports/music-provider.js";

/** Whole credits, both included. */
export interface PriceBounds {
  readonly minimum: number;
  readonly maximum: number;
}

type PricedModel = Pick<ProviderModel, "creditCost" | "references">;

/** Whole credits for one generation by a model; in a mode where it works from a track, else null. */
export function priceOf({ creditCost, references }: PricedModel, mode: ReferenceMode | null): number {
  return (mode === null ? undefined : references?.[mode]?.creditCost) ?? creditCost;
}

/**
 * The least and the most that one generation by a model can be charged: without a track, and in each of these modes.
 * Nothing else moves the price: neither the length, the options, a retry nor a fallback. A generation that fails is
 * refunded.
 */
export function priceBounds(model: PricedModel, modes: readonly ReferenceMode[]): PriceBounds {
  const prices = [null, ...modes].map((mode) => priceOf(model, mode));
  return { minimum: Math.min(...prices), maximum: Math.max(...prices) };
}
