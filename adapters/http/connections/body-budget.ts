import { RateLimitedError, ServiceUnavailableError } from "../../../core/errors.js";
import { clientNetwork } from "../../../core/rate-limits/client-network.js";

const MIB = 1024 * 1024;
/** Bodies of a usual size are a few kB and arrive within a packet or two: this is thousands of them. */
const NETWORK_MAX_BYTES = 8 * MIB;
const NETWORKS_AT_MAX = 8;
const RETRY_AFTER_SECONDS = 5;

/** The memory that request bodies hold while they arrive, of each network and of all together. */
export class BodyBudget {
  private readonly byNetwork = new Map<string, number>();
  private readonly networkMaxBytes: number;
  private held = 0;

  /** @param bodyLimitBytes the largest single body; a few of them always fit */
  constructor(bodyLimitBytes: number) {
    this.networkMaxBytes = Math.max(NETWORK_MAX_BYTES, 4 * bodyLimitBytes);
  }

  /** Bytes that are held right now. */
  get heldBytes(): number {
    return this.held;
  }

  /** The share of one body. @param address as the connection or a trusted proxy names it */
  open(address: string | undefined): BodyShare {
    return new BodyShare(this, clientNetwork(address));
  }

  /**
   * @throws {RateLimitedError} the network holds too much; nothing was taken
   * @throws {ServiceUnavailableError} all together do; nothing was taken
   */
  take(network: string, bytes: number): void {
    const heldByNetwork = (this.byNetwork.get(network) ?? 0) + bytes;
    if (heldByNetwork > this.networkMaxBytes) {
      throw new RateLimitedError(
        { limit: this.networkMaxBytes, window_seconds: 0, retry_after_seconds: RETRY_AFTER_SECONDS },
        `Unfinished bodies of one network hold ${this.networkMaxBytes} bytes. Try again in ${RETRY_AFTER_SECONDS} s.`,
      );
    }
    if (this.held + bytes > this.networkMaxBytes * NETWORKS_AT_MAX) {
      throw new ServiceUnavailableError("Too many bodies are arriving. Try again.");
    }
    this.byNetwork.set(network, heldByNetwork);
    this.held += bytes;
  }

  release(network: string, bytes: number): void {
    const left = (this.byNetwork.get(network) ?? 0) - bytes;
    if (left > 0) this.byNetwork.set(network, left);
    else this.byNetwork.delete(network);
    this.held -= bytes;
  }
}

/** What one body holds. */
export class BodyShare {
  private bytes = 0;

  constructor(
    private readonly budget: BodyBudget,
    private readonly network: string,
  ) {}

  /** @throws {RateLimitedError} {@link ServiceUnavailableError} as {@link BodyBudget.take} */
  grow(bytes: number): void {
    this.budget.take(this.network, bytes);
    this.bytes += bytes;
  }

  release(): void {
    this.budget.release(this.network, this.bytes);
    this.bytes = 0;
  }
}
