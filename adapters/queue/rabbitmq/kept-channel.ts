import type { Channel, ChannelModel } from "amqplib";
import type { Logger } from "../../../core/ports/logger.js";
import { TopologyError } from "./topology.js";
import { pause } from "./waiting.js";

/** Pauses before a channel is opened again: this long at first, twice as long after each short-lived one. */
const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 30_000;

/** A channel that lasted this long was a good one. */
const STEADY_MS = 30_000;

export interface KeptChannelParts<C extends Channel> {
  /** What the channel does, in messages: "publishes to fermata.jobs". */
  readonly does: string;
  readonly logger: Logger;
  create(model: ChannelModel): Promise<C>;
  /** Declares and consumes; a rejection means another try. */
  prepare(channel: C): Promise<void>;
  /** A broker's words as they may be shown. */
  mask(text: string): string;
}

/**
 * A channel that is there as long as its connection: it is opened on each new one, and again after a pause when it ends or cannot be set up.
 * A channel that the broker closed is dead for good, so users take {@link current} each time.
 */
export class KeptChannel<C extends Channel = Channel> {
  private open: C | null = null;
  private why: Error | null;
  private isReported = false;

  constructor(private readonly parts: KeptChannelParts<C>) {
    this.why = new Error(`The channel that ${parts.does} is not open yet.`);
  }

  /** null while there is none; {@link problem} says why. */
  get current(): C | null {
    return this.open;
  }

  get problem(): Error | null {
    return this.why;
  }

  /** Keeps a channel until `gone`. Resolves after the first try, however it ended. */
  begin(model: ChannelModel, gone: AbortSignal): Promise<void> {
    return new Promise((tried) => void this.keep(model, gone, tried));
  }

  /** Gives the channel up, for a reason that the broker does not know; another one is opened. */
  replace(reason: string): void {
    const channel = this.open;
    if (channel === null) return;
    this.open = null;
    this.why = new Error(reason);
    // Where no answer comes, the heartbeat ends the connection, and the channel with it.
    channel.close().catch(() => undefined);
  }

  private async keep(model: ChannelModel, gone: AbortSignal, tried: () => void): Promise<void> {
    let pauseMs = PAUSE_MIN_MS;
    while (!gone.aborted) {
      const beganAt = performance.now();
      const ended = await this.useOne(model, gone, tried);
      tried();
      if (gone.aborted) return;
      this.why = ended;
      this.report(ended);
      if (performance.now() - beganAt > STEADY_MS) pauseMs = PAUSE_MIN_MS;
      await pause(pauseMs, gone);
      pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS);
    }
  }

  /** Opens a channel and waits for its end. @returns why it ended */
  private async useOne(model: ChannelModel, gone: AbortSignal, tried: () => void): Promise<Error> {
    try {
      const channel = await this.parts.create(model);
      const ended = endOf(channel, gone);
      try {
        await this.parts.prepare(channel);
        if (gone.aborted) return await ended;
        this.open = channel;
        this.why = null;
        if (this.isReported) this.parts.logger.info("The channel to RabbitMQ is open again", { channel: this.parts.does });
        this.isReported = false;
        tried();
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

  private shown(error: Error): Error {
    const message = this.parts.mask(error.message);
    return error instanceof TopologyError ? new TopologyError(message) : new Error(`The channel that ${this.parts.does} has ended: ${message}`);
  }

  /** Once, until it is open again. */
  private report(reason: Error): void {
    if (this.isReported) return;
    this.isReported = true;
    const level = reason instanceof TopologyError ? "error" : "warn";
    this.parts.logger[level]("A channel to RabbitMQ is opened again and again until it works", { channel: this.parts.does, reason: reason.message });
  }
}

/** Resolves when the channel, or its connection, has ended; an `error` event without a listener would end the process. */
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
