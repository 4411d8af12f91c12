/** What somebody would like, of something that may not be enough for all. */
export interface Demand<T> {
  readonly of: T;
  readonly count: number;
}

/**
 * Shares `capacity` out in rounds of one, so that who wishes for much delays nobody who wishes for little.
 *
 * @returns the shares that are not empty, in the order of the wishes
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
