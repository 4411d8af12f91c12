import type { Channel } from "amqplib";

/** Redeliveries of a message whose listener failed or whose consumer was lost; then it is a dead letter. */
export const DELIVERY_LIMIT = 10;

/** A queue beyond this refuses notifications: its workers are busy, and the sweep finds the rest. */
export const NOTIFICATIONS_MAX = 100_000;

/** Dead letters are for inspection; the newest of a week are enough. */
const DEAD_LETTERS_MAX = 10_000;
const DEAD_LETTER_TTL_MS = 7 * 24 * 60 * 60 * 1000;

const PRECONDITION_FAILED = 406;

/** Names of exchanges and queues. */
export interface Topology {
  /** Direct exchange; the routing key is the provider's id. */
  readonly jobs: string;
  /** Fanout exchange, and the queue behind it. */
  readonly dead: string;
  /** The queue of one provider. */
  queueOf(providerId: string): string;
}

export function topologyOf(prefix: string): Topology {
  const jobs = `${prefix}.jobs`;
  return { jobs, dead: `${prefix}.dead`, queueOf: (providerId) => `${jobs}.${providerId}` };
}

/** The broker has an exchange or queue of this name with other arguments. It stays so until an operator deletes it. */
export class TopologyError extends Error {
  override readonly name = "TopologyError";
}

/**
 * Declares the exchanges and the dead-letter queue; those that exist are compared.
 *
 * @throws {TopologyError} one exists with other arguments; the channel is closed
 */
export async function declareExchanges(channel: Channel, { jobs, dead }: Topology): Promise<void> {
  await checked(`exchange ${jobs}`, channel.assertExchange(jobs, "direct", { durable: true }));
  await checked(`exchange ${dead}`, channel.assertExchange(dead, "fanout", { durable: true }));
  const options = {
    maxLength: DEAD_LETTERS_MAX,
    messageTtl: DEAD_LETTER_TTL_MS,
    arguments: { "x-queue-type": "quorum" },
  };
  await checked(`queue ${dead}`, channel.assertQueue(dead, { durable: true, ...options }));
  await channel.bindQueue(dead, dead, "");
}

/**
 * Declares the queue of a provider, after {@link declareExchanges}.
 *
 * @throws {TopologyError} one exists with other arguments; the channel is closed
 */
export async function declareQueue(channel: Channel, topology: Topology, providerId: string): Promise<void> {
  const queue = topology.queueOf(providerId);
  const options = { deadLetterExchange: topology.dead, maxLength: NOTIFICATIONS_MAX };
  // Refused, not dropped at the head: what a full queue drops would fill the dead letters.
  const quorum = { "x-queue-type": "quorum", "x-delivery-limit": DELIVERY_LIMIT, "x-overflow": "reject-publish" };
  await checked(`queue ${queue}`, channel.assertQueue(queue, { durable: true, ...options, arguments: quorum }));
  await channel.bindQueue(queue, topology.jobs, providerId);
}

async function checked(what: string, declaring: Promise<unknown>): Promise<void> {
  try {
    await declaring;
  } catch (error) {
    const { code, message } = error as { readonly code?: number; readonly message: string };
    if (code !== PRECONDITION_FAILED) throw error;
    const argument = /inequivalent arg '([^']+)'.*?: (received .*? but current is .*?)["]?$/.exec(message);
    const difference = argument === null ? message : `${argument[1]} differs, ${argument[2]}`;
    throw new TopologyError(`RabbitMQ has another ${what}: ${difference}. Delete it, and it is declared again.`, {
      cause: error,
    });
  }
}
