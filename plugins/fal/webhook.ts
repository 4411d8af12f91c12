import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import type { ReceivedCallback } from "../sdk/index.js";

const TOLERANCE_MS = 300_000;
const SIGNATURE_BYTES = 64;

/** Why a webhook is not from fal; null when its signature is valid. */
export function forgeryIn({ headers, body, receivedAt }: ReceivedCallback, keys: readonly KeyObject[]): string | null {
  const {
    "x-fal-webhook-request-id": requestId = "",
    "x-fal-webhook-user-id": userId = "",
    "x-fal-webhook-timestamp": sentAt = "",
    "x-fal-webhook-signature": signature = "",
  } = headers;
  const given = Buffer.from(signature, "hex");
  const signed = Buffer.from([requestId, userId, sentAt, createHash("sha256").update(body).digest("hex")].join("\n"));
  const holds = given.length === SIGNATURE_BYTES && keys.some((key) => verify(null, signed, key, given));
  if (!holds) return "The signature does not hold.";
  // The time is signed, in whole seconds; a value that is not a number is not a time.
  const isRecent = Math.abs(receivedAt - Number(sentAt) * 1_000) <= TOLERANCE_MS;
  return isRecent ? null : "It was signed more than five minutes ago, or ahead.";
}

/** The Ed25519 keys of a JWKS document; others, and broken ones, are left out. */
export function keysIn(document: unknown): KeyObject[] {
  const { keys } = (document ?? {}) as { readonly keys?: unknown };
  if (!Array.isArray(keys)) return [];
  return keys.flatMap((entry: unknown) => {
    const { kty, crv, x } = (entry ?? {}) as { readonly kty?: unknown; readonly crv?: unknown; readonly x?: unknown };
    if (kty !== "OKP" || crv !== "Ed25519" || typeof x !== "string") return [];
    try {
      return [createPublicKey({ key: { kty, crv, x }, format: "jwk" })];
    } catch {
      return [];
    }
  });
}
