import type { TraceContext } from "./tracer.js";

/** The message of one delivery attempt, and its URL. */
export interface WebhookMessage {
  readonly url: string;
  /** The event's id, the same on every attempt: header `webhook-id`. */
  readonly eventId: string;
  /** Milliseconds since 1970; sent and signed in whole seconds. */
  readonly sentAt: number;
  /** The bytes are sent as they are, as UTF-8. */
  readonly body: string;
  /** `whsec_…`, the current one first; one signature for each. */
  readonly secrets: readonly string[];
  /** Sent as the headers `traceparent` and `tracestate`; null for none. */
  readonly trace: TraceContext | null;
}

/**
 * Why an attempt failed, for operators:
 * - `dns`: the name has no address
 * - `blocked_address`: the host, or one of its addresses, is not to be reached; nothing was sent
 * - `connect`, `tls`: no connection; no certificate that is valid for the name; or neither within the time for
 *   connecting
 * - `timeout`: not complete in time, the response body included
 * - `redirect`, `http_4xx`, `http_5xx`, `gone` (410): the status of the response
 * - `protocol`: the response was not HTTP, or was cut off
 */
export const WEBHOOK_FAILURES = [
  "dns",
  "blocked_address",
  "connect",
  "tls",
  "timeout",
  "redirect",
  "http_4xx",
  "http_5xx",
  "gone",
  "protocol",
] as const;

export type WebhookFailure = (typeof WEBHOOK_FAILURES)[number];

/**
 * Milliseconds from the start of the attempt to the end of each phase; null for a phase that was not reached, and for
 * the first three on a connection that was kept from an earlier attempt. `firstByteMs` is the moment at which status
 * and headers have arrived.
 */
export interface WebhookPhases {
  readonly dnsMs: number | null;
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
  readonly firstByteMs: number | null;
  readonly totalMs: number;
}

export interface WebhookResult {
  /** null on success: the receiver returned 2xx, whole and in time. */
  readonly failure: WebhookFailure | null;
  /** The HTTP status; null when there was none. */
  readonly status: number | null;
  /** What `Retry-After` asks for (RFC 9110, 10.2.3), counted from the response; null when it is absent or invalid. */
  readonly retryAfterMs: number | null;
  /** What went wrong, for operators, without secrets; null on success. */
  readonly message: string | null;
  /** The first 1,024 characters of the response body, for operators. */
  readonly excerpt: string;
  readonly phases: WebhookPhases;
}

/**
 * Posts signed messages to receivers (Standard Webhooks 1.0.0). Connects only to addresses that the {@link
 * AddressGuard} admits, by whatever name they come; follows no redirect, reads at most 16 KiB, unpacks nothing, and
 * takes no proxy from the environment. Replaced through the override `webhookSender` of `compose`.
 */
export interface WebhookSender {
  /** Runs one delivery attempt. Never rejects: every failure is a result. @param signal aborts it as `timeout` */
  send(message: WebhookMessage, signal: AbortSignal): Promise<WebhookResult>;
  /** Ends its connections. */
  close(): Promise<void>;
}
