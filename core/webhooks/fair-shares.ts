/** A demand for a part of a limited capacity. */
export interface Demand<T> {
  readonly of: T;
  readonly count: number;
}

/**
 * Divides `capacity` in rounds of one, so that a large demand delays no small one.
 *
 * @returns the shares that are not empty, in the order of the demands
 */
export function fairShares<T>(capacity: number, demands: readonly Demand<T>[]): Demand<T>[] {
  const shares = demands.map(() => 0);
  let left = capacity;
  for (let wasGiven = true; wasGiven && left > 0;) {
    wasGiven = false;
    for (const [index, { count }] of demands.entries()) {
      if (left <= 0 || (shares[index] ?? 0) >= count) continue;
      shares[index] = (shares[index] ?? 0) + 1;
      left--;
      wasGiven = true;
    }
  }
  return demands.flatMap(({ of }, index) => {
    const count = shares[index] ?? 0;
    return count === 0 ? [] : [{ of, count }];
  });
}
