import type { SeededRandom } from "../../support/chaos/seeded-random.js";

/** How long things take in a scenario: fixed in `npm test`, random between limits in `npm run test:faults`. */
export interface Timing {
  between(usual: number, least: number, most: number): number;
  /** Whether an event of this probability, from 0 to 1, happens. */
  chance(share: number): boolean;
  /** One of these; the first is the usual one. */
  oneOf<T>(first: T, ...others: readonly T[]): T;
}

/** @param random decides single probabilities */
export function usualTiming(random: SeededRandom): Timing {
  return { between: (usual) => usual, chance: (share) => random.fraction() < share, oneOf: (first) => first };
}

export function randomTiming(random: SeededRandom): Timing {
  return {
    between: (_usual, least, most) => random.between(least, most),
    chance: (share) => random.fraction() < share,
    oneOf: (...all) => random.pick(all) as (typeof all)[number],
  };
}
