import { hostUrls } from "../../../core/host-urls.js";

/** A broker that sends nothing for two intervals counts as unavailable. */
const HEARTBEAT_SECONDS = 10;

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "amqp:": 5672, "amqps:": 5671 };

const FORM = "amqp://USER:PASSWORD@HOST:PORT,…/VHOST, or amqps:";

/** The address of a broker, or of one node of a cluster, and the prefix of our names. */
export interface Broker {
  /** As amqplib takes it. */
  readonly address: {
    readonly protocol: "amqp" | "amqps";
    readonly hostname: string;
    readonly port: number;
    readonly username: string;
    readonly password: string;
    /** Percent-encoded: amqplib decodes it once more. */
    readonly vhost: string;
    readonly heartbeat: number;
  };
  /** Host and port, for messages. */
  readonly place: string;
  /** Begins the names of exchanges and queues. */
  readonly prefix: string;
  /** The text without the credentials of the URL. */
  mask(text: string): string;
}

/** The nodes of a cluster, in the order in which they are tried; mostly a single broker. */
export type Brokers = readonly [Broker, ...Broker[]];

/**
 * Reads `amqp://USER:PASSWORD@HOST:PORT,HOST:PORT/VHOST?heartbeat=SECONDS&prefix=NAME`; `amqps:` is the same over TLS.
 * Left out: guest:guest, 5672 (5671 with TLS), vhost `/`, heartbeat 10, prefix `fermata`.
 *
 * @returns a broker for each host
 * @throws {Error} it has another form; the message does not repeat the URL
 */
export function readBrokerUrl(text: string): Brokers {
  const [first = text, ...others] = hostUrls(text);
  return [readOne(first), ...others.map(readOne)];
}

function readOne(text: string): Broker {
  const url = parse(text);
  const username = decode(url.username);
  const password = decode(url.password);
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port === "" ? (DEFAULT_PORTS[url.protocol] as number) : Number(url.port);
  const { heartbeat, prefix } = readParameters(url.searchParams);
  const hasUser = username !== "" || password !== "";
  return {
    address: {
      protocol: url.protocol === "amqps:" ? "amqps" : "amqp",
      hostname,
      port,
      username: hasUser ? username : "guest",
      password: hasUser ? password : "guest",
      vhost: url.pathname.slice(1),
      heartbeat,
    },
    place: `${url.hostname}:${port}`,
    prefix,
    mask: (message) => {
      const named = message.replace(/\buser '[^']*'/g, "user '…'");
      return [password, url.password]
        .filter((secret) => secret !== "")
        .reduce((masked, secret) => masked.replaceAll(secret, "…"), named);
    },
  };
}

function parse(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.hostname === "" || DEFAULT_PORTS[url.protocol] === undefined) {
    throw new Error(`The URL of the queue has the form ${FORM}.`);
  }
  return url;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Error("The URL of the queue has a percent sign that encodes nothing in its user or password; write %25.");
  }
}

function readParameters(parameters: URLSearchParams): { readonly heartbeat: number; readonly prefix: string } {
  for (const name of parameters.keys()) {
    if (name !== "heartbeat" && name !== "prefix")
      throw new Error(`The URL of the queue has no parameter "${name}"; it has heartbeat and prefix.`);
  }
  const heartbeat = parameters.get("heartbeat") ?? String(HEARTBEAT_SECONDS);
  if (!/^[1-9]\d{0,3}$/.test(heartbeat)) throw new Error("The heartbeat in the URL of the queue is 1 to 9999 seconds.");
  const prefix = parameters.get("prefix") ?? "fermata";
  if (!/^[\w.-]{1,100}$/.test(prefix))
    throw new Error("The prefix in the URL of the queue is up to 100 letters, digits, _ . and -");
  return { heartbeat: Number(heartbeat), prefix };
}
