import { ProviderFailure, type ProviderHost } from "../../core/ports/music-provider.js";
import type { ApiCall, ApiResponse } from "./api-call.js";
import { failureOf } from "./api-failures.js";
import { parseJson } from "./json.js";

export interface ProviderApiOptions {
  readonly fetch: ProviderHost["fetch"];
  /** `https://api.example/v1`; slashes at its end do not count. */
  readonly baseUrl: string;
  /** Sent with every call, such as the key. */
  readonly headers?: { readonly [name: string]: string };
  readonly timeoutMs: number;
  /** Of a body; 64 MiB by default. */
  readonly maxBytes?: number;
  /**
   * The failure that a response means by the provider's own table of errors; null: the call succeeded. Left out, or
   * undefined: {@link failureOf} the status. Called for every response, since some providers send errors with status
   * 200.
   */
  readonly classify?: (response: ApiResponse, call: ApiCall) => ProviderFailure | null | undefined;
}

const MAX_BYTES = 64 * 1024 * 1024;

/**
 * The response to a poll begins within this time, or the poll is lost: a provider's polls that all hang keep its other
 * work from being polled. The body, which may be audio, has the time of the call.
 */
const STATUS_RESPONSE_MAX_MS = 60_000;

const SECRET_HEADER = /auth|key|token|secret|licen[cs]e|cookie|password/i;

/** A shorter secret could be an ordinary word of a message. */
const SECRET_MIN_LENGTH = 6;

/** RFC 9110, 5.5. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Errors before anything was sent: no address, no connection, no trusted certificate. */
const NOT_SENT: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "ENETDOWN",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "UND_ERR_CONNECT_TIMEOUT",
  "ERR_INVALID_URL",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_UNTRUSTED",
  "CERT_REVOKED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

/**
 * A client of one provider's HTTP API whose every failure is a {@link ProviderFailure}. It follows no redirect, retries
 * nothing, logs nothing, and sends its headers to the origin of its base URL alone.
 */
export class ProviderApi {
  private readonly baseUrl: string;

  constructor(private readonly options: ProviderApiOptions) {
    this.baseUrl = options.baseUrl.replace(/\/+$/, "");
  }

  /** @throws {ProviderFailure} every failure of the call; anything else is a bug */
  async call(call: ApiCall): Promise<ApiResponse> {
    const response = await this.send(call);
    const classified = this.options.classify?.(response, call);
    const failure = classified === undefined ? failureOf(response, call) : classified;
    if (failure !== null) throw this.masked(failure);
    return response;
  }

  /** Some providers repeat the key when they refuse it; no log may contain it. */
  private masked(failure: ProviderFailure): ProviderFailure {
    const message = this.secrets().reduce((text, secret) => text.replaceAll(secret, "***"), failure.message);
    if (message === failure.message) return failure;
    const { kind, retryAfterMs, billable, providerCode, requestId, cause } = failure;
    return new ProviderFailure(kind, message, {
      retryAfterMs: retryAfterMs ?? undefined,
      billable,
      providerCode: providerCode ?? undefined,
      requestId: requestId ?? undefined,
      cause,
    });
  }

  /** Values of the headers that look like credentials, without their scheme. */
  private secrets(): string[] {
    return Object.entries(this.options.headers ?? {}).flatMap(([name, value]) => {
      if (!SECRET_HEADER.test(name)) return [];
      const [bare = ""] = value.trim().split(/\s+/).slice(-1);
      return bare.length >= SECRET_MIN_LENGTH ? [bare] : [];
    });
  }

  private async send(call: ApiCall): Promise<ApiResponse> {
    const { options } = this;
    const timeout = AbortSignal.timeout(call.timeoutMs ?? options.timeoutMs);
    const silence = new AbortController();
    const signal = AbortSignal.any([call.signal, timeout, silence.signal]);
    if (call.signal.aborted)
      throw new ProviderFailure("unavailable", "Stopped before the call was sent.", { billable: "no" });
    const silent = call.isStatusCall === true ? setTimeout(() => silence.abort(), STATUS_RESPONSE_MAX_MS) : undefined;
    try {
      const form = call.body instanceof FormData ? await encodedForm(call.body) : null;
      const response = await options.fetch(this.urlOf(call), {
        method: call.method ?? (call.json === undefined && call.body === undefined ? "GET" : "POST"),
        headers: sendable({
          accept: "application/json",
          ...options.headers,
          ...(call.json === undefined ? {} : { "content-type": "application/json" }),
          ...call.headers,
          ...(form === null ? {} : { "content-type": form.contentType }),
        }),
        ...(call.json === undefined ? {} : { body: JSON.stringify(call.json) }),
        ...(call.body === undefined ? {} : { body: form?.bytes ?? call.body }),
        ...(call.body instanceof ReadableStream ? { duplex: "half" as const } : {}),
        redirect: "manual",
        signal,
      });
      clearTimeout(silent);
      return toResponse(response, await readBody(response, call.maxBytes ?? options.maxBytes ?? MAX_BYTES));
    } catch (error) {
      const known = failureAmong(error);
      if (known !== null) throw known;
      throw lostCall(
        this.urlOf(call),
        call,
        error,
        (timeout.aborted || silence.signal.aborted) && !call.signal.aborted,
      );
    } finally {
      clearTimeout(silent);
    }
  }

  private urlOf({ path, isStatusCall }: ApiCall): string {
    const { baseUrl } = this;
    if (!/^https?:/i.test(path)) return baseUrl + path;
    // Every call carries the key: a URL in a response must not send it elsewhere.
    if (new URL(path).origin === new URL(baseUrl).origin) return path;
    // Work that was accepted before the base URL was changed can be polled again when it is restored.
    const kind = isStatusCall === true ? "misconfigured" : "failed";
    throw new ProviderFailure(kind, `The provider named an address of another origin: ${new URL(path).origin}.`);
  }
}

/** @throws {ProviderFailure} a key was copied with a character that no header can hold; which one is not shown */
function sendable(headers: Readonly<Record<string, string>>): Headers {
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (!setIfSendable(sent, name, value))
      throw new ProviderFailure("misconfigured", `The header ${name} holds a character that cannot be sent.`, {
        billable: "no",
      });
  }
  return sent;
}

/** Control characters pass `Headers`; `fetch` then fails before it sends, which looks like a lost connection. */
function setIfSendable(headers: Headers, name: string, value: string): boolean {
  try {
    headers.set(name, value);
  } catch {
    return false;
  }
  return FIELD_VALUE.test(headers.get(name) ?? "");
}

interface EncodedForm {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
}

/** A form sent as a stream can hang in Node's `fetch` when the connection is cut; one block of bytes fails at once. */
async function encodedForm(form: FormData): Promise<EncodedForm> {
  const encoded = new Response(form);
  const contentType = encoded.headers.get("content-type") ?? "multipart/form-data";
  return { bytes: new Uint8Array(await encoded.arrayBuffer()), contentType };
}

function lostCall(url: string, call: ApiCall, cause: unknown, timedOut: boolean): ProviderFailure {
  const code = errorCode(cause);
  const interrupted = call.signal.aborted ? "The call was aborted" : "The connection failed";
  const what = timedOut ? "No response in time" : interrupted;
  const message =
    code === "ECONNREFUSED" && !call.signal.aborted
      ? `${addressOf(url)} refused the connection.`
      : `${what}${code === null ? "" : ` (${code})`}.`;
  if (wasNotSent(cause) || (code !== null && NOT_SENT.has(code)))
    return new ProviderFailure("unavailable", message, { cause, billable: "no" });
  return new ProviderFailure(call.creates === true ? "outcome_unknown" : "unavailable", message, { cause });
}

/** The host and the port of a URL, as an operator looks for them. */
function addressOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname} port ${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;
}

/** The failure that ended the call: its own, or that of the body that it sends, which fetch hides behind an error. */
function failureAmong(error: unknown): ProviderFailure | null {
  for (let at = error; at instanceof Error; at = at.cause) if (ProviderFailure.is(at)) return at;
  return null;
}

/** True where the host's fetch says that nothing was sent. */
function wasNotSent(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if ((at as { readonly notSent?: unknown }).notSent === true) return true;
  return false;
}

/** The first code along the causes: fetch hides the socket's error behind its own. */
function errorCode(error: unknown): string | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as { readonly code?: unknown };
    if (typeof code === "string") return code;
  }
  return null;
}

async function readBody(response: Response, maxBytes: number): Promise<Uint8Array> {
  if (response.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > maxBytes) throw new ProviderFailure("failed", `The response is larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function toResponse({ status, headers }: Response, bytes: Uint8Array): ApiResponse {
  return { status, headers, bytes, text: () => new TextDecoder().decode(bytes), json: () => parseJson(bytes) };
}
