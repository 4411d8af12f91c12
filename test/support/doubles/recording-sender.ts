import { EventEmitter, once } from "node:events";
import { failureOf } from "../../../adapters/webhooks/https/response.js";
import type {
  WebhookFailure,
  WebhookMessage,
  WebhookResult,
  WebhookSender,
} from "../../../core/ports/webhook-sender.js";

/** What {@link RecordingSender} does with a message. */
export type Reception = (message: WebhookMessage, signal: AbortSignal) => WebhookResult | Promise<WebhookResult>;

const PHASES = { dnsMs: 1, connectMs: 2, tlsMs: 3, firstByteMs: 4, totalMs: 5 } as const;

/**
 * Every message is answered with this status.
 *
 * @example
 * const sender = new RecordingSender();
 * sender.reception = sendReturns(429, { retryAfterMs: 30_000 });
 */
export function sendReturns(
  status: number,
  { retryAfterMs = null, excerpt = "" }: { readonly retryAfterMs?: number | null; readonly excerpt?: string } = {},
): Reception {
  const failure = failureOf(status);
  return () => ({
    failure,
    status,
    retryAfterMs,
    message: failure === null ? null : `The receiver returned ${status}.`,
    excerpt,
    phases: PHASES,
  });
}

/**
 * No message is answered, for this reason.
 *
 * @example
 * const sender = new RecordingSender();
 * sender.reception = sendFails("timeout");
 */
export function sendFails(failure: WebhookFailure): Reception {
  return () => ({
    failure,
    status: null,
    retryAfterMs: null,
    message: `scripted: ${failure}`,
    excerpt: "",
    phases: { ...PHASES, firstByteMs: null },
  });
}

/**
 * Holds every message until `release` is called or it is aborted; then does what `then` says.
 *
 * @example
 * const sender = new RecordingSender();
 * const held = sendHolds(sendReturns(500));
 * sender.reception = held.reception;
 * held.release();
 */
export function sendHolds(then: Reception = sendReturns(200)): { readonly reception: Reception; release(): void } {
  const gate = new AbortController();
  const reception: Reception = async (message, signal) => {
    const opened = AbortSignal.any([gate.signal, signal]);
    if (!opened.aborted) await once(opened, "abort");
    return signal.aborted ? sendFails("timeout")(message, signal) : then(message, signal);
  };
  return { reception, release: () => gate.abort() };
}

/**
 * In place of the webhook sender: it sends nothing, stores the messages and follows its script. By default every
 * message is answered with 200.
 *
 * @example
 * const sender = new RecordingSender();
 * await sender.send(aMessage({ url: "https://hooks.example" }), AbortSignal.timeout(1_000));
 * const [message] = await sender.sent();
 * assert.equal(message?.url, "https://hooks.example");
 */
export class RecordingSender implements WebhookSender {
  readonly messages: WebhookMessage[] = [];
  reception: Reception = sendReturns(200);
  private readonly events = new EventEmitter();
  private readonly closing = new AbortController();
  private open = 0;

  /** The number of messages without a result. */
  get waiting(): number {
    return this.open;
  }

  async send(message: WebhookMessage, signal: AbortSignal): Promise<WebhookResult> {
    const over = AbortSignal.any([signal, this.closing.signal]);
    if (over.aborted) return sendFails("timeout")(message, over);
    this.messages.push(message);
    this.events.emit("message");
    this.open++;
    try {
      return await this.reception(message, over);
    } finally {
      this.open--;
    }
  }

  async close(): Promise<void> {
    this.closing.abort();
  }

  /** Resolves when there were `count` messages. */
  async sent(count = 1): Promise<readonly WebhookMessage[]> {
    while (this.messages.length < count) await once(this.events, "message");
    return this.messages;
  }
}
