import type { ConnectionOptions as TlsOptions } from "node:tls";
import { type Channel, type ChannelModel, connect, type RecoveringChannelModel } from "amqplib";
import type { Logger } from "../../../core/ports/logger.js";
import type { Broker } from "./broker-url.js";
import type { KeptChannel } from "./kept-channel.js";
import { within } from "./waiting.js";

/** How a lost connection comes back: amqplib waits this long at first, and twice as long after each failure. */
const RECOVERY = { initialDelay: 100, factor: 2, maxDelay: 5_000, jitter: 0.2 };

/** How long a connection may take, from its first packet to the broker's consent. */
export const CONNECT_MAX_MS = 4_000;

/** How long the broker's farewell is waited for. */
const CLOSE_MAX_MS = 1_000;

export interface ConnectionDeps {
  readonly broker: Broker;
  /** What it is for, in logs and in the broker's own list: "publish" or "consume". */
  readonly purpose: string;
  readonly logger: Logger;
  /** For `amqps:`, beside what Node trusts by itself. */
  readonly tls?: TlsOptions | undefined;
}

type Kept = Pick<KeptChannel, "begin" | "tried" | "problem">;

/** A connection that comes back, and its channels with it. Whoever opens it closes it. */
export class RabbitmqConnection {
  private readonly channels: Kept[] = [];
  private readonly logger: Logger;
  private recovering: RecoveringChannelModel | null = null;
  private model: ChannelModel | null = null;
  private session: { readonly model: ChannelModel; readonly gone: AbortSignal } | null = null;
  private downBecause: string | null = "it has not answered yet";
  private blockedBecause: string | null = null;
  private isReported = false;
  private isClosed = false;
  private closing: Promise<void> | null = null;
  private hasFailed: () => void = () => undefined;
  private readonly firstFailure = new Promise<void>((resolve) => {
    this.hasFailed = resolve;
  });

  private constructor(private readonly deps: ConnectionDeps) {
    this.logger = deps.logger.child({ connection: deps.purpose, broker: deps.broker.place });
  }

  /** Connects in the background, as often as it must. */
  static async open(parts: ConnectionDeps): Promise<RabbitmqConnection> {
    const connection = new RabbitmqConnection(parts);
    connection.recovering = await connect(parts.broker.address, {
      ...parts.tls,
      timeout: CONNECT_MAX_MS,
      noDelay: true,
      keepAlive: true,
      clientProperties: { connection_name: `fermata ${parts.purpose}` },
      recovery: { ...RECOVERY, waitForConnect: false, setup: (model: ChannelModel) => connection.begin(model) },
    });
    connection.follow(connection.recovering);
    return connection;
  }

  /** Host and port, for messages. */
  get place(): string {
    return this.deps.broker.place;
  }

  /** A broker's words as they may be shown. */
  get mask(): (text: string) => string {
    return this.deps.broker.mask;
  }

  /** Whether the broker takes no messages for now: it is short of memory or disk. */
  get isBlocked(): boolean {
    return this.blockedBecause !== null;
  }

  /** Why messages cannot be sent or heard; null when they can. */
  get problem(): Error | null {
    const { place } = this;
    if (this.isClosed) return new Error("The job queue is closed.");
    if (this.downBecause !== null) return new Error(`RabbitMQ at ${place} cannot be reached: ${this.downBecause}`);
    if (this.blockedBecause !== null)
      return new Error(`RabbitMQ at ${place} takes no messages: ${this.blockedBecause}`);
    return this.channels.find(({ problem }) => problem !== null)?.problem ?? null;
  }

  /** Keeps one more channel. Resolves after its first try, or when there is no connection to try it on. */
  async keep(channel: Kept): Promise<void> {
    this.channels.push(channel);
    if (this.session === null) return Promise.race([channel.tried(), this.firstFailure]);
    channel.begin(this.session.model, this.session.gone);
    await channel.tried();
  }

  /** Does something on a channel of its own. @throws {Error} there is no connection, or what `work` throws */
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

  /** Takes leave of the broker, and goes without its answer after a second. */
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

  /** The setup of every new connection. It does not wait for the channels: one whose queue is in trouble must not hold up the others. */
  private async begin(model: ChannelModel): Promise<void> {
    const gone = new AbortController();
    // amqplib listens itself only after the setup; an `error` without a listener would end the process.
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
    // What it says is the reason of the `disconnect` that follows.
    recovering.on("error", () => undefined);
  }

  private up(): void {
    this.downBecause = null;
    if (this.isReported) this.logger.info("RabbitMQ is reached again");
    this.isReported = false;
  }

  /** Said once, until it is reached again. */
  private down(error: Error): void {
    if (this.isClosed) return;
    this.downBecause = this.deps.broker.mask(reasonOf(error, this.deps.broker));
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

export function reasonOf(error: Error, { address }: Broker): string {
  // Node reports a name with several addresses as an error without a message that holds one error for each.
  if (error instanceof AggregateError) return error.errors.map((one: Error) => one.message).join("; ");
  // The broker names the vhost, but amqplib drops its words.
  if (error.message.includes("got <ConnectionClose"))
    return `it refuses the vhost "${address.vhost || "/"}"; it may be missing, or not for this user`;
  return error.message;
}

/**
 * A connection that was left politely lives until the broker ends it too, which one that hangs or is blocked does not: it would keep the
 * process alive. amqplib's types hide the socket.
 */
export function destroySocket(model: ChannelModel): void {
  const { stream } = model.connection as { readonly stream?: { destroy(error: Error): void } };
  // Without an error amqplib would not notice, and its heartbeats went on.
  stream?.destroy(new Error("The connection was left."));
}
