import type { Channel, ConsumeMessage } from "amqplib";

interface Received {
  readonly message: ConsumeMessage;
  isProcessed: boolean;
}

/**
 * The acknowledgements of one channel. Those of one turn of the event loop are sent together: one for all messages up
 * to the first that is still processed, and one for each behind it.
 */
export class Acknowledgements {
  /** Neither acknowledged nor rejected, in the order in which they came. */
  private readonly open = new Set<Received>();
  private processed: Received[] = [];

  constructor(private readonly channel: Pick<Channel, "ack" | "reject">) {}

  /** A message came. @returns what is to be called once, with whether it was processed; it is sent again where not */
  receive(message: ConsumeMessage): (isProcessed: boolean) => void {
    const received = { message, isProcessed: false };
    this.open.add(received);
    return (isProcessed) => {
      if (isProcessed) return this.acknowledge(received);
      this.open.delete(received);
      // Rejected, not nacked: from RabbitMQ 4.3 on only that counts towards the delivery limit.
      quietly(() => this.channel.reject(message, true));
    };
  }

  /** Sends at once what the end of this turn would send. */
  flush(): void {
    const { processed } = this;
    this.processed = [];
    let last: ConsumeMessage | null = null;
    for (const received of this.open) {
      if (!received.isProcessed) break;
      last = received.message;
      this.open.delete(received);
    }
    if (last !== null) this.ack(last, true);
    for (const received of processed) if (this.open.delete(received)) this.ack(received.message, false);
  }

  private acknowledge(received: Received): void {
    received.isProcessed = true;
    if (this.processed.push(received) === 1) setImmediate(() => this.flush());
  }

  private ack(message: ConsumeMessage, isForAllBefore: boolean): void {
    quietly(() => this.channel.ack(message, isForAllBefore));
  }
}

/** On a channel that has ended in the meantime amqplib throws; the message is delivered again. */
export function quietly(settle: () => void): void {
  try {
    settle();
  } catch {
    return;
  }
}
