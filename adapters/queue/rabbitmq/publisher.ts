import type { ChannelModel, ConfirmChannel } from "amqplib";
import type { JobNotification } from "../../../core/ports/job-queue.js";
import type { Logger } from "../../../core/ports/logger.js";
import type { RabbitmqConnection } from "./connection.js";
import { KeptChannel } from "./kept-channel.js";
import { encodeNotification, PUBLISH_OPTIONS } from "./message.js";
import { ProviderQueues } from "./provider-queues.js";
import { Refusals } from "./refusals.js";
import { declareExchanges, type Topology } from "./topology.js";
import { LATE, within } from "./waiting.js";

/** What amqplib says of a message that the broker refused. */
const NACKED = "message nacked";

/** The first wait before another channel is opened, doubled each time. */
const PAUSE_MIN_MS = 200;

/** How long the broker may take to respond to a check. */
const RESPONSE_MAX_MS = 2_000;

export interface PublisherDeps {
  readonly connection: RabbitmqConnection;
  readonly topology: Topology;
  readonly logger: Logger;
  /** Unconfirmed messages at most; more are dropped. */
  readonly unconfirmedMax: number;
  /** How long a confirm may take, in milliseconds; then the channel is replaced. */
  readonly confirmMaxMs: number;
}

/** Notifications since the start. */
export interface NotificationCounts {
  /** The broker has received them, even if no queue took them. */
  readonly confirmed: number;
  /** No queue took them. */
  readonly unroutable: number;
  /** Not sent, refused, or sent and not confirmed. */
  readonly dropped: number;
}

/**
 * Sends notifications and keeps none: what cannot be sent now is dropped and counted, since the sweep finds the rows.
 */
export class Publisher {
  readonly channel: KeptChannel<ConfirmChannel>;
  private readonly counted = { confirmed: 0, unroutable: 0, dropped: 0 };
  /** When each message was sent, oldest first. */
  private readonly unconfirmed = new Map<number, number>();
  private readonly queues: ProviderQueues;
  private readonly refusals = new Refusals();
  private sent = 0;
  private droppedAtFirst: number | null = null;
  private deadline: NodeJS.Timeout | null = null;
  private checking: Promise<void> | null = null;
  private onceDrained: () => void = () => undefined;

  constructor(private readonly deps: PublisherDeps) {
    this.queues = new ProviderQueues(deps);
    this.channel = new KeptChannel<ConfirmChannel>({
      does: `publishes to ${deps.topology.jobs}`,
      logger: deps.logger,
      mask: deps.connection.mask,
      create: (model: ChannelModel) => {
        this.refusals.begin(model);
        return model.createConfirmChannel();
      },
      prepare: (channel) => this.prepare(channel),
      pauseMinMs: PAUSE_MIN_MS,
    });
  }

  get counts(): NotificationCounts {
    return { ...this.counted };
  }

  /** Never throws. */
  publish(notifications: readonly JobNotification[]): void {
    for (const notification of notifications) {
      const channel = this.channel.current;
      const obstacle = this.obstacle();
      if (channel === null || obstacle !== null) this.drop(obstacle ?? "there is no channel");
      else this.send(channel, notification);
    }
  }

  /** Declares the queues of these providers, now and on every new connection. Resolves after the first attempt. */
  declare(providerIds: readonly string[]): Promise<void> {
    return this.queues.declare(providerIds);
  }

  /** @throws {Error} the broker cannot be reached or does not respond in time, or a queue is missing */
  async check(): Promise<void> {
    const { problem, place } = this.deps.connection;
    if (problem !== null) throw problem;
    // One request at a time: they must not pile up while the broker hangs.
    this.checking ??= this.checkExchange().finally(() => {
      this.checking = null;
    });
    if ((await within(RESPONSE_MAX_MS, this.checking)) === LATE) {
      // The broker may have reported in the meantime that it is blocked.
      throw (
        this.deps.connection.problem ?? new Error(`RabbitMQ at ${place} has not responded for ${RESPONSE_MAX_MS} ms.`)
      );
    }
    if (this.queues.problem !== null) throw this.queues.problem;
  }

  /** Resolves when all messages are confirmed, or no confirm can be expected. */
  async stop(): Promise<void> {
    this.queues.stop();
    if (this.unconfirmed.size === 0 || this.deps.connection.problem !== null) return;
    await new Promise<void>((resolve) => {
      this.onceDrained = resolve;
    });
  }

  private async prepare(channel: ConfirmChannel): Promise<void> {
    channel.on("return", ({ fields }) => this.missed(fields.routingKey));
    await declareExchanges(channel, this.deps.topology);
    // Not awaited: a queue that never responds must not hold up the notifications of other providers.
    void this.queues.declareAgain();
  }

  private obstacle(): string | null {
    const { connection, unconfirmedMax } = this.deps;
    if (this.unconfirmed.size >= unconfirmedMax) return `${unconfirmedMax} messages wait for the broker's confirm`;
    return connection.problem?.message ?? null;
  }

  private send(channel: ConfirmChannel, notification: JobNotification): void {
    const { jobs } = this.deps.topology;
    const number = (this.sent += 1);
    try {
      // A full write buffer (false) needs no waiting: the bound on unconfirmed messages bounds the buffer as well.
      channel.publish(
        jobs,
        notification.providerId,
        encodeNotification(notification),
        PUBLISH_OPTIONS,
        (error: Error | null) => this.settle(number, error, notification.providerId, channel),
      );
      this.unconfirmed.set(number, performance.now());
      this.expectConfirms();
    } catch (error) {
      this.drop((error as Error).message);
    }
  }

  private settle(number: number, error: Error | null, providerId: string, channel: ConfirmChannel): void {
    this.unconfirmed.delete(number);
    if (error === null) {
      this.counted.confirmed += 1;
      this.refusals.accept(providerId);
    } else {
      this.drop(error.message);
      // Of a channel that was closed all that is not confirmed is reported, too.
      if (error.message === NACKED && this.channel.current === channel && this.refusals.refuse(providerId))
        this.channel.replace(`RabbitMQ refuses all that is sent to ${this.deps.topology.queueOf(providerId)}.`);
    }
    if (this.unconfirmed.size > 0) return;
    if (error === null) this.recover();
    this.onceDrained();
  }

  private drop(reason: string): void {
    if (this.droppedAtFirst === null) {
      this.droppedAtFirst = this.counted.dropped;
      this.deps.logger.warn("Notifications are dropped; the sweep finds the jobs", { reason });
    }
    this.counted.dropped += 1;
  }

  /** All messages are confirmed: the outage is over. */
  private recover(): void {
    if (this.droppedAtFirst === null) return;
    this.deps.logger.info("Notifications reach RabbitMQ again", {
      dropped: this.counted.dropped - this.droppedAtFirst,
    });
    this.droppedAtFirst = null;
  }

  /** amqplib reports no missing confirms. A blocked broker sends them when it continues. */
  private expectConfirms(): void {
    const [oldest] = this.unconfirmed.values();
    if (this.deadline !== null || oldest === undefined) return;
    const { connection, confirmMaxMs } = this.deps;
    const restMs = connection.isBlocked ? confirmMaxMs : oldest + confirmMaxMs - performance.now();
    this.deadline = setTimeout(() => {
      this.deadline = null;
      const isLate = [...this.unconfirmed.values()]
        .slice(0, 1)
        .some((sentAt) => performance.now() - sentAt >= confirmMaxMs);
      if (isLate && !connection.isBlocked)
        this.channel.replace(`RabbitMQ has not confirmed a message for ${confirmMaxMs} ms.`);
      else this.expectConfirms();
    }, restMs).unref();
  }

  private missed(providerId: string): void {
    this.counted.unroutable += 1;
    this.queues.missed(providerId);
  }

  private async checkExchange(): Promise<void> {
    const { connection, topology } = this.deps;
    try {
      await this.channel.current?.checkExchange(topology.jobs);
    } catch (error) {
      throw (
        connection.problem ?? new Error(`RabbitMQ at ${connection.place}: ${connection.mask((error as Error).message)}`)
      );
    }
  }
}
