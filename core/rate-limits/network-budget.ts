import { clientNetwork } from "./client-network.js";
import { ConcurrencyBudget } from "./concurrency-budget.js";

/**
 * How many requests that need no key one network may have under way at once, in this process. A caller with a key has a
 * rate limit; a caller without a key is known by its address alone.
 */
export class NetworkBudget {
  private readonly requests: ConcurrencyBudget;

  constructor(concurrentMax: number) {
    this.requests = new ConcurrencyBudget(concurrentMax, "requests at once from one network");
  }

  /**
   * Counts a request until it is released.
   *
   * @param address as the connection or a trusted proxy names it; undefined where there is none
   * @returns releases it, once; further calls change nothing
   * @throws {RateLimitedError} the network has as many under way as it may; this one was not counted
   */
  enter(address: string | undefined): () => void {
    return this.requests.enter(clientNetwork(address));
  }
}
