import type { ConnectionOptions as TlsOptions } from "node:tls";
import { type Channel, type ChannelModel, connect, type RecoveringChannelModel } from "amqplib";
import type { Logger } from "../../../core/ports/logger.js";
import type { Broker, Brokers } from "./broker-url.js";
import type { KeptChannel } from "./kept-channel.js";
import { within } from "./waiting.js";

/** Waits before a lost connection is opened again: doubled each time all brokers have failed, and jittered. */
const WAIT_MIN_MS = 100;
const WAIT_MAX_MS = 4_000;
const JITTER = 0.2;

/** How long opening a connection may take, the handshake included. */
export const CONNECT_MAX_MS = 4_000;

/** The same where another broker can be tried. */
const CONNECT_NEXT_MS = 1_000;

/** How long closing waits for the broker. */
const CLOSE_MAX_MS = 1_000;

export interface ConnectionDeps {
  /** The connection is to one of them; to the next one when it is lost. */
  readonly brokers: Brokers;
  /** "publish" or "consume", for logs and the broker's list of connections. */
  readonly purpose: string;
  readonly logger: Logger;
  /** For `amqps:`, in addition to what Node trusts. */
  readonly tls?: TlsOptions | undefined;
}

type Kept = Pick<KeptChannel, "begin" | "tried" | "problem">;

/** A connection that is opened again when it is lost, and its channels with it. */
export class RabbitmqConnection {
  private readonly channels: Kept[] = [];
  private readonly logger: Logger;
  private recovering: RecoveringChannelModel | null = null;
  private model: ChannelModel | null = null;
  private session: { readonly model: ChannelModel; readonly gone: AbortSignal } | null = null;
  /** Which of the brokers is tried or used. */
  private index = 0;
  private downBecause: string | null = "it has not responded yet";
  private blockedBecause: string | null = null;
  private isReported = false;
  private isClosed = false;
  private closing: Promise<void> | null = null;
  private hasFailed: () => void = () => undefined;
  private readonly firstFailure = new Promise<void>((resolve) => {
    this.hasFailed = resolve;
  });

  private constructor(private readonly deps: ConnectionDeps) {
    this.logger = deps.logger.child({ connection: deps.purpose, broker: this.place });
  }

  /** Connects in the background, as often as necessary. */
  static async open(deps: ConnectionDeps): Promise<RabbitmqConnection> {
    const connection = new RabbitmqConnection(deps);
    connection.recovering = await connect(connection.address, {
      ...deps.tls,
      timeout: deps.brokers.length > 1 ? CONNECT_NEXT_MS : CONNECT_MAX_MS,
      noDelay: true,
      keepAlive: true,
      clientProperties: { connection_name: `fermata ${deps.purpose}` },
      recovery: {
        waitForConnect: false,
        calculateDelay: (attempt) => waitMs(Math.floor((attempt - 1) / deps.brokers.length)),
        setup: (model: ChannelModel) => connection.begin(model),
      },
    });
    connection.follow(connection.recovering);
    return connection;
  }

  /** Hosts and ports, for messages. */
  get place(): string {
    return this.deps.brokers.map(({ place }) => place).join(", ");
  }

  private get broker(): Broker {
    const { brokers } = this.deps;
    return brokers[this.index % brokers.length] ?? brokers[0];
  }

  /** As amqplib takes it, which reads it again for each attempt. */
  private get address(): Broker["address"] {
    const current = (): Broker["address"] => this.broker.address;
    return {
      ...current(),
      get hostname() {
        return current().hostname;
      },
      get port() {
        return current().port;
      },
    };
  }

  /** Hides the credentials in a broker's message. */
  get mask(): (text: string) => string {
    return this.deps.brokers[0].mask;
  }

  /** Whether the broker takes no messages because it is short of memory or disk. */
  get isBlocked(): boolean {
    return this.blockedBecause !== null;
  }

  /** Why messages cannot be sent or received; null when they can. */
  get problem(): Error | null {
    const { place } = this;
    if (this.isClosed) return new Error("The job queue is closed.");
    if (this.downBecause !== null) return new Error(`RabbitMQ at ${place} cannot be reached: ${this.downBecause}`);
    if (this.blockedBecause !== null)
      return new Error(`RabbitMQ at ${place} takes no messages: ${this.blockedBecause}`);
    return this.channels.find(({ problem }) => problem !== null)?.problem ?? null;
  }

  /** Keeps one more channel. Resolves after its first attempt, or when connecting has failed. */
  async keep(channel: Kept): Promise<void> {
    this.channels.push(channel);
    if (this.session === null) return Promise.race([channel.tried(), this.firstFailure]);
    channel.begin(this.session.model, this.session.gone);
    await channel.tried();
  }

  /** Runs `work` on a channel of its own. @throws {Error} there is no connection, or what `work` throws */
  async brief(work: (channel: Channel) => Promise<void>): Promise<void> {
    if (this.session === null) throw this.problem ?? new Error("There is no connection.");
    const channel = await this.session.model.createChannel();
    // The failure rejects the call that caused it as well.
    channel.on("error", () => undefined);
    try {
      await work(channel);
    } finally {
      channel.close().catch(() => undefined);
    }
  }

  /** Closes the connection, after a second without waiting for the broker. */
  close(): Promise<void> {
    this.closing ??= this.leave();
    return this.closing;
  }

  private async leave(): Promise<void> {
    this.isClosed = true;
    if (this.recovering !== null) await within(CLOSE_MAX_MS, this.recovering.close());
    if (this.model !== null) destroySocket(this.model);
    this.hasFailed();
  }

  /**
   * The setup of every new connection. It does not wait for the channels: one whose queue fails must not hold up the
   * others.
   */
  private async begin(model: ChannelModel): Promise<void> {
    const gone = new AbortController();
    // amqplib adds its own listener after the setup; an `error` without a listener would end the process.
    model.on("error", () => undefined);
    model.on("close", () => {
      this.session = null;
      this.blockedBecause = null;
      gone.abort();
    });
    model.on("blocked", (reason) => this.block(reason));
    model.on("unblocked", () => this.unblock());
    this.model = model;
    this.session = { model, gone: gone.signal };
    for (const channel of this.channels) channel.begin(model, gone.signal);
  }

  private follow(recovering: RecoveringChannelModel): void {
    recovering.on("connect", () => this.up());
    recovering.on("connect-failed", (error) => this.down(error));
    recovering.on("disconnect", (error) => this.down(error));
    // Its message is the reason of the `disconnect` that follows.
    recovering.on("error", () => undefined);
  }

  private up(): void {
    this.downBecause = null;
    if (this.isReported) this.logger.info("RabbitMQ is reached again");
    this.isReported = false;
  }

  /** Logged once, until it is reached again. */
  private down(error: Error): void {
    if (this.isClosed) return;
    this.downBecause = this.mask(reasonOf(error, this.broker));
    this.index += 1;
    if (!this.isReported)
      this.logger.warn("RabbitMQ cannot be reached; the sweep finds the jobs", { reason: this.downBecause });
    this.isReported = true;
    this.hasFailed();
  }

  private block(reason: string): void {
    this.blockedBecause = reason;
    this.logger.warn("RabbitMQ takes no messages for now; the sweep finds the jobs", { reason });
  }

  private unblock(): void {
    this.blockedBecause = null;
    this.logger.info("RabbitMQ takes messages again");
  }
}

/** @param rounds how often all brokers have failed */
function waitMs(rounds: number): number {
  const wait = Math.min(WAIT_MIN_MS * 2 ** rounds, WAIT_MAX_MS);
  return Math.round(wait * (1 + JITTER * (2 * Math.random() - 1)));
}

export function reasonOf(error: Error, { address }: Broker): string {
  // Node reports a name with several addresses as an error without a message that holds one error for each.
  if (error instanceof AggregateError) return error.errors.map((one: Error) => one.message).join("; ");
  // The broker names the vhost, but amqplib drops its message.
  if (error.message.includes("got <ConnectionClose"))
    return `it refuses the vhost "${address.vhost || "/"}"; it may be missing, or not for this user`;
  return error.message;
}

/**
 * A closed connection lives until the broker closes it too, which a broker that hangs or is blocked does not do: the
 * socket would keep the process alive. amqplib's types hide it.
 */
export function destroySocket(model: ChannelModel): void {
  const { stream } = model.connection as { readonly stream?: { destroy(error: Error): void } };
  // Without an error amqplib would not notice, and would go on sending heartbeats.
  stream?.destroy(new Error("The connection was left."));
}
