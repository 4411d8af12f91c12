import { createHmac, timingSafeEqual } from "node:crypto";
import type { ReceivedCallback } from "../sdk/index.js";

const TOLERANCE_MS = 300_000;

/**
 * Why a webhook is not from Replicate; null when its signature is valid.
 *
 * @param secret `whsec_` and the key in base64
 */
export function forgeryIn({ headers, body, receivedAt }: ReceivedCallback, secret: string): string | null {
  const { "webhook-id": id = "", "webhook-timestamp": sentAt = "", "webhook-signature": signatures = "" } = headers;
  const expected = signatureOf(secret, id, sentAt, body);
  const given = signatures
    .split(" ")
    .flatMap((entry) => (entry.startsWith("v1,") ? [Buffer.from(entry.slice(3), "base64")] : []));
  const holds =
    given.filter((signature) => signature.length === expected.length && timingSafeEqual(signature, expected)).length >
    0;
  if (!holds) return "The signature does not hold.";
  // The time is signed, in whole seconds; a value that is not a number is not a time.
  const isRecent = Math.abs(receivedAt - Number(sentAt) * 1_000) <= TOLERANCE_MS;
  return isRecent ? null : "It was signed more than five minutes ago, or ahead.";
}

export function signatureOf(secret: string, id: string, sentAt: string, body: Uint8Array): Buffer {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return createHmac("sha256", key).update(`${id}.${sentAt}.`).update(body).digest();
}
