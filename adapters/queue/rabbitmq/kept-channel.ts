import type { Channel, ChannelModel } from "amqplib";
import type { Logger } from "../../../core/ports/logger.js";
import { TopologyError } from "./topology.js";
import { LATE, pause, within } from "./waiting.js";

/**
 * Waits before a channel is opened again, doubled after each short-lived one. Not less: when a queue is declared within
 * some 50 ms of its deletion, RabbitMQ 3.10 keeps the old consumers, which receive neither messages nor a cancellation.
 */
const PAUSE_MIN_MS = 1_000;
const PAUSE_MAX_MS = 30_000;

/** A channel that lasted this long resets the wait. */
const STEADY_MS = 30_000;

/** How long declaring and consuming may take: after a crash of the broker a single queue may never respond. */
const PREPARE_MAX_MS = 5_000;

export interface KeptChannelDeps<C extends Channel> {
  /** What the channel does, in messages: "publishes to fermata.jobs". */
  readonly does: string;
  readonly logger: Logger;
  create(model: ChannelModel): Promise<C>;
  /** Declares and consumes; when it rejects, another channel is opened. */
  prepare(channel: C): Promise<void>;
  /** Hides the credentials in a broker's message. */
  mask(text: string): string;
  /** The first wait, where no queue is declared on the channel. */
  readonly pauseMinMs?: number;
}

/**
 * A channel that is opened on each new connection, and again after a wait when it ends or cannot be set up. A channel
 * that the broker closed stays closed, so users take {@link current} each time.
 */
export class KeptChannel<C extends Channel = Channel> {
  private open: C | null = null;
  private why: Error | null;
  private isReported = false;
  private isEnded = false;
  private firstAttemptDone: () => void = () => undefined;
  private readonly firstAttempt = new Promise<void>((resolve) => {
    this.firstAttemptDone = resolve;
  });

  constructor(private readonly deps: KeptChannelDeps<C>) {
    this.why = this.notOpenYet();
  }

  /** null while there is none; {@link problem} says why. */
  get current(): C | null {
    return this.open;
  }

  get problem(): Error | null {
    return this.why;
  }

  /** Resolves after the first attempt to open a channel. */
  tried(): Promise<void> {
    return this.firstAttempt;
  }

  /** Keeps a channel on this connection until it is `gone`. */
  begin(model: ChannelModel, gone: AbortSignal): void {
    this.why = this.notOpenYet();
    void this.keep(model, gone);
  }

  /** Closes the channel and opens another one. */
  replace(reason: string): void {
    const channel = this.open;
    if (channel === null) return;
    this.open = null;
    this.why = new Error(reason);
    // If the broker does not respond, the heartbeat ends the connection, and the channel with it.
    channel.close().catch(() => undefined);
  }

  /** Closes the channel for good. Resolves when the broker has received all that was sent on it. */
  async end(): Promise<void> {
    this.isEnded = true;
    await this.open?.close().catch(() => undefined);
  }

  private async keep(model: ChannelModel, gone: AbortSignal): Promise<void> {
    const { pauseMinMs = PAUSE_MIN_MS } = this.deps;
    let pauseMs = pauseMinMs;
    while (!gone.aborted && !this.isEnded) {
      const beganAt = performance.now();
      const ended = await this.useOne(model, gone);
      this.firstAttemptDone();
      if (gone.aborted || this.isEnded) return;
      this.why = ended;
      this.report(ended);
      if (performance.now() - beganAt > STEADY_MS) pauseMs = pauseMinMs;
      await pause(pauseMs, gone);
      pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS);
    }
  }

  /** Opens a channel and waits for its end. @returns why it ended */
  private async useOne(model: ChannelModel, gone: AbortSignal): Promise<Error> {
    try {
      const channel = await this.deps.create(model);
      const ended = endOf(channel, gone);
      try {
        const prepared = await within(PREPARE_MAX_MS, this.deps.prepare(channel));
        if (prepared === LATE) throw new Error(`RabbitMQ has not responded for ${PREPARE_MAX_MS} ms`);
        if (gone.aborted) return await ended;
        this.open = channel;
        this.why = null;
        if (this.isReported)
          this.deps.logger.info("The channel to RabbitMQ is open again", { channel: this.deps.does });
        this.isReported = false;
        this.firstAttemptDone();
        const error = await ended;
        return this.why ?? this.shown(error);
      } finally {
        if (this.open === channel) this.open = null;
        // One whose preparation failed may still be open; on a closed one this rejects.
        channel.close().catch(() => undefined);
      }
    } catch (error) {
      return this.shown(error as Error);
    }
  }

  private notOpenYet(): Error {
    return new Error(`The channel that ${this.deps.does} is not open yet.`);
  }

  private shown(error: Error): Error {
    const message = this.deps.mask(error.message);
    return error instanceof TopologyError
      ? new TopologyError(message)
      : new Error(`The channel that ${this.deps.does} has ended: ${message}`);
  }

  /** Logged once, until it is open again. */
  private report(reason: Error): void {
    if (this.isReported) return;
    this.isReported = true;
    const level = reason instanceof TopologyError ? "error" : "warn";
    this.deps.logger[level]("A channel to RabbitMQ is opened again and again until it works", {
      channel: this.deps.does,
      reason: reason.message,
    });
  }
}

/**
 * Resolves when the channel, or its connection, has ended; an `error` event without a listener would end the process.
 */
function endOf(channel: Channel, gone: AbortSignal): Promise<Error> {
  return new Promise((resolve) => {
    let reason = new Error("it was closed");
    const end = (): void => {
      gone.removeEventListener("abort", end);
      resolve(reason);
    };
    channel.on("error", (error) => {
      reason = error;
    });
    channel.on("close", end);
    if (gone.aborted) end();
    else gone.addEventListener("abort", end);
  });
}
