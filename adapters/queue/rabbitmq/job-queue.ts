import type { ConnectionOptions as TlsOptions } from "node:tls";
import type { NotificationListener, JobNotification, JobQueue } from "../../../core/ports/job-queue.js";
import type { Logger } from "../../../core/ports/logger.js";
import { type Brokers, readBrokerUrl } from "./broker-url.js";
import { RabbitmqConnection } from "./connection.js";
import { Consumer } from "./consumer.js";
import { type NotificationCounts, Publisher } from "./publisher.js";
import { type Topology, topologyOf } from "./topology.js";
import { within } from "./waiting.js";

export type { NotificationCounts } from "./publisher.js";
export { DELIVERY_LIMIT } from "./topology.js";

export interface RabbitmqJobQueueOptions {
  /** `amqp://USER:PASSWORD@HOST:PORT,…/VHOST?heartbeat=SECONDS&prefix=NAME`, or `amqps:` */
  readonly url: string;
  readonly logger: Logger;
  /** For `amqps:`, in addition to what Node trusts: `ca`, `cert`, `key` … */
  readonly tls?: TlsOptions;
  /** Unacknowledged messages of one provider at most; 50 by default. */
  readonly prefetch?: number;
  /** Messages without the broker's confirm at most; 10,000 by default. */
  readonly unconfirmedMax?: number;
  /** How long a confirm may take, in milliseconds; 10,000 by default. */
  readonly confirmMaxMs?: number;
}

/** How long `open`, `prepare` and `listen` wait for a broker that does not respond; then they return without it. */
const FIRST_TRY_MAX_MS = 2_000;

/** How long `close` waits for confirms and running listeners. */
const CLOSE_GRACE_MS = 500;

/**
 * Notifications through RabbitMQ: a quorum queue for each provider, one connection to publish and one to consume. While
 * the broker is unavailable notifications are dropped, {@link check} says why, and the connections are opened again. A
 * notification whose listener fails is delivered again up to the delivery limit; then it is a dead letter.
 */
export class RabbitmqJobQueue implements JobQueue {
  private readonly consumers = new Map<string, Consumer>();
  private consuming: Promise<RabbitmqConnection> | null = null;
  private consumeConnection: RabbitmqConnection | null = null;
  private closing: Promise<void> | null = null;

  private constructor(
    private readonly options: RabbitmqJobQueueOptions,
    private readonly brokers: Brokers,
    private readonly topology: Topology,
    private readonly publishConnection: RabbitmqConnection,
    private readonly publisher: Publisher,
  ) {}

  /**
   * Opens the queue, whether there is a broker or not.
   *
   * @throws {Error} the URL cannot be read
   */
  static async open(options: RabbitmqJobQueueOptions): Promise<RabbitmqJobQueue> {
    const { logger, tls, unconfirmedMax = 10_000, confirmMaxMs = 10_000 } = options;
    const brokers = readBrokerUrl(options.url);
    const topology = topologyOf(brokers[0].prefix);
    const connection = await RabbitmqConnection.open({ brokers, purpose: "publish", logger, tls });
    const publisher = new Publisher({ connection, topology, logger, unconfirmedMax, confirmMaxMs });
    await within(FIRST_TRY_MAX_MS, connection.keep(publisher.channel));
    return new RabbitmqJobQueue(options, brokers, topology, connection, publisher);
  }

  /** How many notifications of this process were confirmed, unroutable or dropped. */
  get counts(): NotificationCounts {
    return this.publisher.counts;
  }

  notify(notifications: readonly JobNotification[]): void {
    if (this.closing === null) this.publisher.publish(notifications);
  }

  async prepare(providerIds: readonly string[]): Promise<void> {
    if (this.closing !== null) throw new Error("The job queue is closed.");
    await within(FIRST_TRY_MAX_MS, this.publisher.declare(providerIds));
  }

  async listen(providerId: string, listener: NotificationListener): Promise<void> {
    if (this.closing !== null) throw new Error("The job queue is closed.");
    const known = this.consumers.get(providerId);
    const consumer =
      known ??
      new Consumer({ providerId, topology: this.topology, mask: this.brokers[0].mask, ...this.consumerOptions() });
    consumer.add(listener);
    this.consumers.set(providerId, consumer);
    if (known !== undefined) return;
    const connection = await this.consumerConnection();
    await within(FIRST_TRY_MAX_MS, connection.keep(consumer.channel));
  }

  async check(): Promise<void> {
    if (this.closing !== null) throw new Error("The job queue is closed.");
    await this.publisher.check();
    const problem = this.consumeConnection?.problem ?? null;
    if (problem !== null) throw problem;
  }

  close(): Promise<void> {
    this.closing ??= this.leave();
    return this.closing;
  }

  private async leave(): Promise<void> {
    const consumers = [...this.consumers.values()];
    await within(CLOSE_GRACE_MS, Promise.all([this.publisher.stop(), ...consumers.map((consumer) => consumer.stop())]));
    await Promise.all([this.publishConnection.close(), this.consuming?.then((connection) => connection.close())]);
  }

  private consumerOptions(): { readonly logger: Logger; readonly prefetch: number } {
    return { logger: this.options.logger, prefetch: this.options.prefetch ?? 50 };
  }

  /** Opened by the first `listen`: a process that only notifies needs none. */
  private consumerConnection(): Promise<RabbitmqConnection> {
    const { logger, tls } = this.options;
    this.consuming ??= RabbitmqConnection.open({ brokers: this.brokers, purpose: "consume", logger, tls }).then(
      (connection) => {
        this.consumeConnection = connection;
        return connection;
      },
    );
    return this.consuming;
  }
}
