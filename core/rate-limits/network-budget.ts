import { RateLimitedError } from "../errors.js";
import { clientNetwork } from "./client-network.js";

const RETRY_AFTER_SECONDS = 5;

/**
 * How many requests that need no key one network may have under way at once, in this process. A caller with a key has a
 * rate limit; a caller without a key is known by its address alone.
 */
export class NetworkBudget {
  private readonly underWay = new Map<string, number>();

  constructor(private readonly concurrentMax: number) {}

  /**
   * Counts a request until it is released.
   *
   * @param address as the connection or a trusted proxy names it; undefined where there is none
   * @returns releases it, once; further calls change nothing
   * @throws {RateLimitedError} the network has as many under way as it may; this one was not counted
   */
  enter(address: string | undefined): () => void {
    const network = clientNetwork(address);
    const count = this.underWay.get(network) ?? 0;
    if (count >= this.concurrentMax) throw toError(this.concurrentMax);
    this.underWay.set(network, count + 1);
    let isReleased = false;
    return () => {
      if (!isReleased) this.release(network);
      isReleased = true;
    };
  }

  private release(network: string): void {
    const left = (this.underWay.get(network) ?? 0) - 1;
    if (left > 0) this.underWay.set(network, left);
    else this.underWay.delete(network);
  }
}

function toError(limit: number): RateLimitedError {
  return new RateLimitedError(
    { limit, window_seconds: 0, retry_after_seconds: RETRY_AFTER_SECONDS },
    `More than ${limit} requests at once from one network. Try again in ${RETRY_AFTER_SECONDS} s.`,
  );
}
