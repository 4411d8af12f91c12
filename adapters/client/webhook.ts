import { WebhookVerificationError } from "./errors.js";
import type { Schemas } from "./types.js";

/** What a webhook brings: an event with the job as `GET /api/v1/jobs/{id}` shows it. */
export interface WebhookEvent {
  /** `generation.completed`, `generation.failed`, `stem_split.completed`, … */
  readonly type: string;
  readonly timestamp: string;
  readonly data: Schemas["Job"] & {
    readonly client?: string | null;
    readonly metadata?: Readonly<Record<string, unknown>> | null;
  };
}

export interface WebhookOptions {
  /** By how much the time of a delivery may differ from the time here. Default 300. */
  readonly toleranceSeconds?: number;
}

/** Of `fetch`, or of Node's `request.headers`. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

const PREFIX = "whsec_";
const encoder = new TextEncoder();

/**
 * Checks that a webhook was signed with the secret of its endpoint, by the Standard Webhooks specification.
 *
 * @param body the bytes as they came, not JSON that was parsed and written again
 * @param secret `whsec_…`; several while one is replaced
 * @returns the event; the same `webhook-id` may come more than once
 * @throws {WebhookVerificationError} a header is missing, the time is too far away, or no signature is right
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = 300 }: WebhookOptions = {},
): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) => headerOf(headers, name));
  if (!id || !timestamp || !signatures)
    throw new WebhookVerificationError("webhook-id, webhook-timestamp or webhook-signature is missing.");
  if (!/^\d+$/.test(timestamp) || Math.abs(Date.now() / 1_000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookVerificationError(`webhook-timestamp is more than ${toleranceSeconds} s away.`);
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const signed = joined(encoder.encode(`${id}.${timestamp}.`), bytes);
  const keys = await Promise.all([secret].flat().map(toKey));
  for (const signature of signatures.split(" ").filter((each) => each.startsWith("v1,"))) {
    const given = fromBase64(signature.slice("v1,".length));
    for (const key of given === null ? [] : keys)
      // It compares in constant time.
      if (await crypto.subtle.verify("HMAC", key, given as Uint8Array<ArrayBuffer>, signed))
        return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;
  }
  throw new WebhookVerificationError("No webhook-signature is right for the secret.");
}

async function toKey(secret: string) {
  const bytes = fromBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret);
  if (bytes === null || bytes.length === 0)
    throw new TypeError("The secret of a webhook endpoint is whsec_ and base64.");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function headerOf(headers: WebhookHeaders, suffix: string): string | null {
  const name = `webhook-${suffix}`;
  if (headers instanceof Headers) return headers.get(name);
  const [, value] = Object.entries(headers).find(([each]) => each.toLowerCase() === name) ?? [];
  return typeof value === "string" ? value : (value?.[0] ?? null);
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** Null: no base64. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
