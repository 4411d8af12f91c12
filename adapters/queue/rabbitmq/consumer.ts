import type { Channel, ChannelModel, ConsumeMessage } from "amqplib";
import type { NotificationListener, JobNotification } from "../../../core/ports/job-queue.js";
import type { Logger } from "../../../core/ports/logger.js";
import { Acknowledgements, quietly } from "./acknowledgements.js";
import { KeptChannel } from "./kept-channel.js";
import { decodeNotification } from "./message.js";
import { declareExchanges, declareQueue, type Topology } from "./topology.js";

export interface ConsumerDeps {
  readonly providerId: string;
  readonly topology: Topology;
  readonly logger: Logger;
  /** Unacknowledged messages at most. */
  readonly prefetch: number;
  mask(text: string): string;
}

/** Receives the notifications of one provider. A message is acknowledged when every listener has processed it. */
export class Consumer {
  readonly channel: KeptChannel;
  private readonly listeners: NotificationListener[] = [];
  private readonly running = new Set<Promise<void>>();
  private acknowledgements: Acknowledgements | null = null;
  private consumerTag: string | null = null;
  private isStopped = false;

  constructor(private readonly deps: ConsumerDeps) {
    this.channel = new KeptChannel({
      does: `consumes ${this.queue}`,
      logger: deps.logger,
      mask: deps.mask,
      create: (model: ChannelModel) => model.createChannel(),
      prepare: (channel) => this.prepare(channel),
    });
  }

  add(listener: NotificationListener): void {
    this.listeners.push(listener);
  }

  /** Stops the listeners. Resolves when the running ones have ended and the broker has their acknowledgements. */
  async stop(): Promise<void> {
    this.isStopped = true;
    // Or the broker would go on sending, and count what is not processed as a failed delivery.
    if (this.consumerTag !== null) this.channel.current?.cancel(this.consumerTag).catch(() => undefined);
    await Promise.all(this.running);
    this.acknowledgements?.flush();
    // In amqplib closing a connection overtakes what its channels have just sent; closing the channel does not.
    await this.channel.end();
  }

  private get queue(): string {
    return this.deps.topology.queueOf(this.deps.providerId);
  }

  private async prepare(channel: Channel): Promise<void> {
    const { topology, providerId, prefetch } = this.deps;
    await declareExchanges(channel, topology);
    await declareQueue(channel, topology, providerId);
    await channel.prefetch(prefetch);
    const acknowledgements = new Acknowledgements(channel);
    this.acknowledgements = acknowledgements;
    const receive = (message: ConsumeMessage | null): void => this.receive(channel, acknowledgements, message);
    const { consumerTag } = await channel.consume(this.queue, receive);
    this.consumerTag = consumerTag;
  }

  private receive(channel: Channel, acknowledgements: Acknowledgements, message: ConsumeMessage | null): void {
    if (message === null)
      return this.channel.replace(
        `RabbitMQ has cancelled the consumer of ${this.queue}; the queue may have been deleted.`,
      );
    if (this.isStopped) return;
    const notification = decodeNotification(message.content);
    if (notification === null || notification.providerId !== this.deps.providerId) {
      this.deps.logger.warn("A message in a job queue is not a notification; it becomes a dead letter", {
        queue: this.queue,
      });
      return quietly(() => channel.reject(message, false));
    }
    const work = this.pass(notification)
      .then(acknowledgements.receive(message))
      .finally(() => this.running.delete(work));
    this.running.add(work);
  }

  /** @returns whether each listener has processed it */
  private async pass(notification: JobNotification): Promise<boolean> {
    const results = await Promise.allSettled(this.listeners.map(async (listener) => listener(notification)));
    const failures = results.filter((result) => result.status === "rejected").map(({ reason }) => reason as unknown);
    for (const error of failures)
      this.deps.logger.error("A listener of the job queue failed", { ...notification, error });
    return failures.length === 0;
  }
}
