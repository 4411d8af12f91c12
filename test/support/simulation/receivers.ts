import { failureOf } from "../../../adapters/webhooks/https/response.js";
import type { WebhookMessage, WebhookResult, WebhookSender } from "../../../core/ports/webhook-sender.js";
import type { ReceiverReply } from "./plan.js";
import type { SimProcess } from "./process.js";

const NO_PHASES = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, totalMs: 1 };

/** The receivers of all accounts, which outlive every process. */
export class Receivers {
  /** Ids of the events that each URL took with a 2xx. */
  readonly taken = new Map<string, Set<string>>();
  private readonly replies = new Map<string, ReceiverReply[]>();

  /** What this receiver replies next, one after another; then 200. */
  script(url: string, replies: readonly ReceiverReply[]): void {
    this.replies.set(url, [...(this.replies.get(url) ?? []), ...replies]);
  }

  heal(): void {
    this.replies.clear();
  }

  /** How one process reaches them. */
  senderOf(process: SimProcess): WebhookSender {
    return {
      send: async (message, signal) => {
        const reply = await process.call("webhook", (stall) =>
          stall?.isRefused === true ? "500" : this.receive(message),
        );
        if (reply !== "hangs" || signal.aborted) return resultOf(reply);
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        return resultOf("timeout");
      },
      close: () => Promise.resolve(),
    };
  }

  private receive({ url, eventId }: WebhookMessage): ReceiverReply | "200" {
    const reply = this.replies.get(url)?.shift() ?? "200";
    if (reply !== "200" && reply !== "reply_lost") return reply;
    const taken = this.taken.get(url) ?? new Set();
    this.taken.set(url, taken.add(eventId));
    return reply;
  }
}

function resultOf(reply: ReceiverReply | "200"): WebhookResult {
  const status = Number(reply);
  if (Number.isNaN(status)) {
    const failure = reply === "reply_lost" ? "protocol" : "timeout";
    return { failure, status: null, retryAfterMs: null, message: reply, excerpt: "", phases: NO_PHASES };
  }
  const failure = failureOf(status);
  const retryAfterMs = status === 429 ? 3_000 : null;
  return { failure, status, retryAfterMs, message: failure === null ? null : reply, excerpt: "", phases: NO_PHASES };
}
