import type { Logger } from "../../../core/ports/logger.js";
import type { RabbitmqConnection } from "./connection.js";
import { declareQueue, type Topology } from "./topology.js";
import { pause } from "./waiting.js";

/** Consumers get this long to declare a queue that was deleted; see the pauses in kept-channel.ts. */
const REPAIR_MIN_MS = 2_000;
const REPAIR_MAX_MS = 30_000;

export interface ProviderQueuesDeps {
  readonly connection: RabbitmqConnection;
  readonly topology: Topology;
  readonly logger: Logger;
}

/**
 * The publisher's view of the queues: declares those of the providers it knows, and those that a notification did not
 * find.
 */
export class ProviderQueues {
  /** Providers whose queues are declared on every new connection. */
  private readonly notified = new Set<string>();
  /** Queues that are missing, by provider, and why. */
  private readonly missing = new Map<string, Error>();
  private readonly stopping = new AbortController();

  constructor(private readonly deps: ProviderQueuesDeps) {}

  /** Why a provider's notifications find no queue; null when no queue is known to be missing. */
  get problem(): Error | null {
    const [first] = this.missing.values();
    return first ?? null;
  }

  /** Declares the queues of these providers, now and on every new connection. Resolves after the first attempt. */
  async declare(providerIds: readonly string[]): Promise<void> {
    for (const id of providerIds) this.notified.add(id);
    await Promise.all(providerIds.map((id) => this.attemptOnce(id)));
  }

  /** To be called on every new connection. */
  async declareAgain(): Promise<void> {
    await this.declare([...this.notified]);
  }

  /** The broker returned a notification: the exchange exists, but the queue was deleted or is not declared yet. */
  missed(providerId: string): void {
    const { topology, logger } = this.deps;
    if (this.missing.has(providerId)) return;
    const queue = topology.queueOf(providerId);
    logger.warn("A notification found no queue; the sweep finds the jobs", { queue });
    void this.repair(providerId, new Error(`RabbitMQ has no queue ${queue}, or it is not bound to ${topology.jobs}.`));
  }

  stop(): void {
    this.stopping.abort();
  }

  private async attemptOnce(providerId: string): Promise<void> {
    try {
      await this.declareNow(providerId);
    } catch (error) {
      // Without a connection it is declared on the next one.
      if (this.deps.connection.problem === null && !this.missing.has(providerId))
        void this.repair(providerId, this.reported(providerId, error as Error));
    }
  }

  private async repair(providerId: string, because: Error): Promise<void> {
    this.missing.set(providerId, because);
    for (let waitMs = REPAIR_MIN_MS; this.missing.has(providerId); waitMs = Math.min(waitMs * 2, REPAIR_MAX_MS)) {
      await pause(waitMs, this.stopping.signal);
      if (this.stopping.signal.aborted) return;
      try {
        await this.declareNow(providerId);
      } catch (error) {
        if (this.missing.has(providerId)) this.missing.set(providerId, this.reported(providerId, error as Error));
      }
    }
  }

  /** On a channel of its own: RabbitMQ closes the channel when the queue has other arguments. */
  private async declareNow(providerId: string): Promise<void> {
    const { connection, topology, logger } = this.deps;
    await connection.brief((channel) => declareQueue(channel, topology, providerId));
    if (this.missing.delete(providerId))
      logger.info("The queue is declared again", { queue: topology.queueOf(providerId) });
  }

  /** Logged again only when the reason has changed. */
  private reported(providerId: string, error: Error): Error {
    const { connection, topology, logger } = this.deps;
    const reason = connection.mask(error.message);
    if (this.missing.get(providerId)?.message !== reason) {
      logger.error("The queue cannot be declared", { queue: topology.queueOf(providerId), reason });
    }
    return new Error(reason);
  }
}
