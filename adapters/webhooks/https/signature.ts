import { createHmac } from "node:crypto";
import type { WebhookMessage } from "../../../core/ports/webhook-sender.js";

const SECRET_PREFIX = "whsec_";

/**
 * The headers of Standard Webhooks 1.0.0: the id, the time in whole seconds, and one `v1` signature for each secret.
 */
export function signedHeaders({
  eventId,
  sentAt,
  body,
  secrets,
}: Omit<WebhookMessage, "url" | "trace">): Record<string, string> {
  const timestamp = String(Math.floor(sentAt / 1000));
  const signed = `${eventId}.${timestamp}.${body}`;
  return {
    "webhook-id": eventId,
    "webhook-timestamp": timestamp,
    "webhook-signature": secrets
      .map((secret) => `v1,${createHmac("sha256", keyOf(secret)).update(signed, "utf8").digest("base64")}`)
      .join(" "),
  };
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, "base64");
}
