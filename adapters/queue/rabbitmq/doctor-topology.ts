import type { Channel, ChannelModel, ConfirmChannel } from "amqplib";
import { failed, type CheckResult, ok } from "../../../core/ports/self-check.js";
import type { Broker } from "./broker-url.js";
import { declareExchanges, declareQueue, DELIVERY_LIMIT, type Topology, TopologyError } from "./topology.js";
import { LATE, within } from "./waiting.js";

/** How long the broker may take for one request. */
const RESPONSE_MAX_MS = 5_000;

const ACCESS_REFUSED = 403;

/** Of no provider: their ids have no blank. */
const UNROUTABLE = "no provider";

/** Declares the exchanges and the queue of dead letters, which also checks existing ones, argument by argument. */
export function checkExchanges(model: ChannelModel, broker: Broker, topology: Topology): Promise<CheckResult> {
  const name = "rabbitmq exchanges";
  return checked(name, broker, async () => {
    await onChannel(model, (channel) => declareExchanges(channel, topology));
    const dead = await onChannel(model, (channel) => channel.checkQueue(topology.dead));
    return ok(
      name,
      `${topology.jobs} and ${topology.dead} are as they should be; ${counted(dead.messageCount, "dead letter")} kept.`,
    );
  });
}

/** The same for the queue of one provider, and whether it may be listened to. */
export function checkQueue(
  model: ChannelModel,
  broker: Broker,
  topology: Topology,
  providerId: string,
): Promise<CheckResult> {
  const queue = topology.queueOf(providerId);
  const name = `rabbitmq queue ${queue}`;
  return checked(name, broker, async () => {
    await onChannel(model, (channel) => declareQueue(channel, topology, providerId));
    await onChannel(model, (channel) => mayListen(channel, queue));
    const { messageCount, consumerCount } = await onChannel(model, (channel) => channel.checkQueue(queue));
    const holds =
      `${counted(messageCount, "notification")} waiting, ` +
      `${counted(consumerCount, "worker process", "worker processes")} listening`;
    return ok(name, `A quorum queue with dead letters after ${DELIVERY_LIMIT} deliveries; ${holds}.`);
  });
}

/**
 * Sends an unroutable message: a broker that is short of memory or disk takes none, and says so only to those who send.
 */
export function checkAlarms(model: ChannelModel, broker: Broker, topology: Topology): Promise<CheckResult> {
  const name = "rabbitmq alarms";
  return checked(name, broker, async () => {
    const blocked = new Promise<string>((resolve) => void model.once("blocked", resolve));
    const channel = await model.createConfirmChannel();
    channel.on("error", () => undefined);
    const reason = await Promise.race([blocked, confirmed(channel, topology)]);
    if (reason === null) {
      channel.close().catch(() => undefined);
      return ok(name, "The broker takes messages.");
    }
    const repair =
      "`rabbitmq-diagnostics alarms` says what is short: make room, or change vm_memory_high_watermark or " +
      "disk_free_limit.";
    return failed(
      name,
      `The broker takes no messages: ${reason}. Jobs still run, as the sweep finds them, but later.`,
      repair,
    );
  });
}

/** The command that gives the user of the URL all it needs. */
export function grantOf(broker: Broker): string {
  const names = `'^${broker.prefix.replaceAll(".", "\\.")}\\.'`;
  return `\`rabbitmqctl set_permissions -p ${vhostOf(broker)} ${broker.address.username} ${names} ${names} ${names}\``;
}

export function vhostOf({ address }: Broker): string {
  return decodeURIComponent(address.vhost) || "/";
}

async function checked(name: string, broker: Broker, check: () => Promise<CheckResult>): Promise<CheckResult> {
  try {
    const result = await within(RESPONSE_MAX_MS, check());
    if (result !== LATE) return result;
    const repair =
      "`rabbitmqctl list_queues name state` shows queues without a leader; restart the broker, or delete them.";
    return failed(name, `The broker has not answered for ${RESPONSE_MAX_MS / 1000} s.`, repair);
  } catch (error) {
    const message = broker.mask((error as Error).message);
    if (error instanceof TopologyError) return classifyDifference(name, broker, message);
    const isRight = (error as { readonly code?: unknown }).code === ACCESS_REFUSED;
    // amqplib puts words of its own around the broker's.
    const [, words = message] = /with message "(.*)"$/.exec(message) ?? [];
    return failed(name, `The broker refuses: ${words}.`, isRight ? grantOf(broker) : "See the broker's log.");
  }
}

/** The message is that of {@link TopologyError}, which names the exchange or queue and the argument. */
function classifyDifference(name: string, broker: Broker, message: string): CheckResult {
  const [found, advice] = message.split(". Delete it");
  const [, kind, what] = /another (queue|exchange) (\S+):/.exec(message) ?? [];
  const commands: Readonly<Record<string, string>> = {
    queue: `\`rabbitmqctl delete_queue -p ${vhostOf(broker)} ${what}\``,
    exchange: `\`rabbitmqadmin --vhost=${vhostOf(broker)} delete exchange name=${what}\``,
  };
  const command = commands[kind ?? ""];
  return failed(
    name,
    `${found}.`,
    command === undefined
      ? `Delete it${advice ?? "."}`
      : `${command}; it is declared again, and the sweep finds the jobs meanwhile.`,
  );
}

async function onChannel<T>(model: ChannelModel, work: (channel: Channel) => Promise<T>): Promise<T> {
  const channel = await model.createChannel();
  // The failure rejects the call that caused it as well.
  channel.on("error", () => undefined);
  try {
    return await work(channel);
  } finally {
    channel.close().catch(() => undefined);
  }
}

/**
 * Asks for the right to read without becoming a consumer: the broker first looks at the right, and then refuses the
 * argument.
 */
async function mayListen(channel: Channel, queue: string): Promise<void> {
  try {
    const { consumerTag } = await channel.consume(queue, () => undefined, { arguments: { "x-priority": "none" } });
    await channel.cancel(consumerTag);
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === ACCESS_REFUSED) throw error;
  }
}

/** Resolves with null when the broker has taken a message. */
function confirmed(channel: ConfirmChannel, topology: Topology): Promise<null> {
  return new Promise((resolve, reject) => {
    channel.once("error", reject);
    channel.publish(topology.jobs, UNROUTABLE, Buffer.alloc(0), {}, (error: unknown) => {
      if (error === null) resolve(null);
      else reject(error instanceof Error ? error : new Error("the message was refused"));
    });
  });
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
