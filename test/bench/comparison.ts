import { median } from "./figures.js";
import { load, type LoadOptions, type LoadResult } from "./load.js";
import type { Server } from "./servers/start.js";

export interface ComparisonOptions extends Omit<LoadOptions, "seconds"> {
  readonly rounds: number;
  readonly seconds: number;
}

/** The results of one server in every round. */
export interface Standing {
  readonly rounds: readonly LoadResult[];
  readonly perSecond: number;
  readonly p99Ms: number;
  /** CPU time of the server per request, in microseconds. */
  readonly cpuMicros: number;
}

/**
 * Loads several servers in turn, round after round, so that other load on the machine affects all of them. The medians
 * of the rounds count.
 */
export async function comparison(servers: readonly Server[], options: ComparisonOptions): Promise<readonly Standing[]> {
  for (const server of servers) await load(server.url, { ...options, seconds: Math.max(1, options.seconds / 2) });
  const results = servers.map((): { readonly load: LoadResult; readonly cpuMicros: number }[] => []);
  for (let round = 0; round < options.rounds; round++) {
    for (const [index, server] of servers.entries()) {
      const before = await server.cpuMs();
      const result = await load(server.url, options);
      results[index]?.push({ load: result, cpuMicros: (((await server.cpuMs()) - before) * 1000) / result.count });
    }
  }
  return results.map((rounds) => ({
    rounds: rounds.map((round) => round.load),
    perSecond: median(rounds.map((round) => round.load.perSecond)),
    p99Ms: median(rounds.map((round) => round.load.p99Ms)),
    cpuMicros: median(rounds.map((round) => round.cpuMicros)),
  }));
}

/** The median over the rounds of the ratio of `one`'s requests to `other`'s. */
export function ratioOf(one: Standing, other: Standing): number {
  return median(one.rounds.map((round, index) => round.perSecond / (other.rounds[index]?.perSecond ?? Number.NaN)));
}
