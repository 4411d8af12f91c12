import { EventEmitter, once } from "node:events";
import { failureOf } from "../../../adapters/webhooks/https/response.js";
import type {
  WebhookFailure,
  WebhookMessage,
  WebhookResult,
  WebhookSender,
} from "../../../core/ports/webhook-sender.js";

/** The result of a message. */
export type Reception = (message: WebhookMessage, signal: AbortSignal) => WebhookResult | Promise<WebhookResult>;

const PHASES = { dnsMs: 1, connectMs: 2, tlsMs: 3, firstByteMs: 4, totalMs: 5 } as const;

/** A receiver's response. */
export function responses(
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

/** No response, for this reason. */
export function fails(failure: WebhookFailure): Reception {
  return () => ({
    failure,
    status: null,
    retryAfterMs: null,
    message: `scripted: ${failure}`,
    excerpt: "",
    phases: { ...PHASES, firstByteMs: null },
  });
}

/** Holds every message until `release` is called or it is aborted; then does what `then` says. */
export function holds(then: Reception = responses(200)): { readonly reception: Reception; release(): void } {
  const gate = new AbortController();
  const reception: Reception = async (message, signal) => {
    const opened = AbortSignal.any([gate.signal, signal]);
    if (!opened.aborted) await once(opened, "abort");
    return signal.aborted ? fails("timeout")(message, signal) : then(message, signal);
  };
  return { reception, release: () => gate.abort() };
}

/** A sender that sends nothing: it stores the messages and follows its script. The default response is 200. */
export class RecordingSender implements WebhookSender {
  readonly messages: WebhookMessage[] = [];
  reception: Reception = responses(200);
  private readonly events = new EventEmitter();
  private readonly closing = new AbortController();
  private open = 0;

  /** The number of messages without a result. */
  get waiting(): number {
    return this.open;
  }

  async send(message: WebhookMessage, signal: AbortSignal): Promise<WebhookResult> {
    const over = AbortSignal.any([signal, this.closing.signal]);
    if (over.aborted) return fails("timeout")(message, over);
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
