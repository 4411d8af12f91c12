import type { ConnectionOptions as TlsOptions } from "node:tls";
import { type ChannelModel, connect } from "amqplib";
import { failed, type CheckResult, ok, warning } from "../../../core/ports/self-check.js";
import { type Broker, type Brokers, readBrokerUrl } from "./broker-url.js";
import { CONNECT_MAX_MS, destroySocket, reasonOf } from "./connection.js";
import { checkPolicies } from "./doctor-policies.js";
import { checkAlarms, checkExchanges, checkQueue, grantOf, vhostOf } from "./doctor-topology.js";
import { topologyOf } from "./topology.js";
import { within } from "./waiting.js";

export interface RabbitmqDoctorOptions {
  /** As in `queue.url`. */
  readonly url: string;
  /** The providers whose queues are checked. */
  readonly providerIds: readonly string[];
  readonly tls?: TlsOptions;
  /** Where the management API listens, if it is enabled; by default on the broker's host at its usual port. */
  readonly managementUrl?: string;
  /** For the management API. */
  readonly fetch: typeof fetch;
}

/** What a RabbitMQ needs at least: quorum queues whose messages expire. */
const OLDEST = [3, 10] as const;

const CONNECTION = "rabbitmq connection";

const CLOSE_MAX_MS = 1_000;

/**
 * Checks the broker with the connection options of the app. It declares missing exchanges and queues, as a start would
 * declare them.
 */
export async function checkRabbitmq({
  url,
  providerIds,
  tls,
  managementUrl,
  fetch,
}: RabbitmqDoctorOptions): Promise<readonly CheckResult[]> {
  let brokers: Brokers;
  try {
    brokers = readBrokerUrl(url);
  } catch (error) {
    return [failed(CONNECTION, (error as Error).message, "Correct queue.url.")];
  }
  const tries = await Promise.all(brokers.map((broker) => tryOut(broker, tls)));
  const used = tries.find(({ model }) => model !== null);
  for (const { model } of tries) if (model !== null && model !== used?.model) await leave(model);
  const hosts = tries.length === 1 ? [] : tries.map((one) => classifyHost(one, used ?? null));
  if (used === undefined || used.model === null)
    return tries.length === 1 ? tries.flatMap(({ refusal }) => refusal ?? []) : [...hosts, noHost(brokers)];
  const { broker, model } = used;
  const topology = topologyOf(broker.prefix);
  try {
    const results: CheckResult[] = [
      ...hosts,
      ok(CONNECTION, `${broker.place} lets ${broker.address.username} into the vhost ${vhostOf(broker)}.`),
    ];
    results.push(classifyVersion(model.connection.serverProperties));
    const exchanges = await checkExchanges(model, broker, topology);
    results.push(exchanges);
    if (exchanges.result !== "ok") return results;
    for (const id of providerIds) results.push(await checkQueue(model, broker, topology, id));
    results.push(await checkAlarms(model, broker, topology));
    results.push(
      await checkPolicies({
        broker,
        queues: providerIds.map((id) => topology.queueOf(id)),
        fetch,
        ...(managementUrl && { url: managementUrl }),
      }),
    );
    return results;
  } finally {
    await leave(model);
  }
}

/** A broker with a connection to it, or why there is none. */
interface Tried {
  readonly broker: Broker;
  readonly model: ChannelModel | null;
  readonly refusal: CheckResult | null;
}

async function tryOut(broker: Broker, tls: TlsOptions | undefined): Promise<Tried> {
  try {
    const clientProperties = { connection_name: "fermata doctor" };
    const model = await connect(broker.address, { ...tls, timeout: CONNECT_MAX_MS, clientProperties });
    // What it says rejects the call that waits as well.
    model.on("error", () => undefined);
    return { broker, model, refusal: null };
  } catch (error) {
    return { broker, model: null, refusal: classifyRefusal(broker, error as Error) };
  }
}

async function leave(model: ChannelModel): Promise<void> {
  await within(
    CLOSE_MAX_MS,
    model.close().catch(() => undefined),
  );
  destroySocket(model);
}

function classifyHost({ broker, refusal }: Tried, used: Tried | null): CheckResult {
  const name = `rabbitmq host ${broker.place}`;
  if (broker === used?.broker) return ok(name, "Used: it is the first that lets us in.");
  if (refusal === null) return ok(name, `Not used: ${used?.broker.place} comes before it.`);
  return warning(name, `Not used: ${refusal.message}`, refusal.fix ?? "");
}

function noHost(brokers: Brokers): CheckResult {
  const places = brokers.map(({ place }) => place).join(", ");
  return failed(CONNECTION, `None of ${places} can be used.`, "See the line of each.");
}

function classifyRefusal(broker: Broker, error: Error): CheckResult {
  const { username } = broker.address;
  const reason = broker.mask(reasonOf(error, broker)).replace(/\.$/, "");
  return failed(CONNECTION, `${broker.place} cannot be used: ${reason}.`, fixOf());

  function fixOf(): string {
    if (error.message.includes("ACCESS_REFUSED") || error.message.includes("ACCESS-REFUSED")) {
      const guest = username === "guest" ? "; guest may only come from the broker's own machine" : "";
      return (
        `Correct user and password in queue.url${guest}. \`rabbitmqctl add_user ${username} PASSWORD\` ` +
        `makes the user.`
      );
    }
    if (error.message.includes("got <ConnectionClose"))
      return `\`rabbitmqctl add_vhost ${vhostOf(broker)}\` if it is missing; then ${grantOf(broker)}`;
    return "Start the broker, or correct host and port in queue.url.";
  }
}

export function classifyVersion({
  product,
  version,
}: {
  readonly product: string;
  readonly version: string;
}): CheckResult {
  const name = "rabbitmq version";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
  if (product === "RabbitMQ" && isOld)
    return failed(
      name,
      `The broker is RabbitMQ ${version}, which is too old.`,
      `Move to RabbitMQ ${OLDEST.join(".")} or later.`,
    );
  return ok(name, `The broker is ${product} ${version}.`);
}
