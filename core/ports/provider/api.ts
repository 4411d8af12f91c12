import { ProviderFailure, type ProviderFailureKind } from "./failure.js";

/** What a provider answered: read whole, never more than the limit. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** The body as text. */
  text(): string;
  /** The body as JSON; undefined when it is none. */
  json(): unknown;
}

export interface ApiCall {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the base, with its query; or a whole URL of the same origin, as providers hand out for status and cancel. */
  readonly path: string;
  readonly headers?: { readonly [name: string]: string };
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: Uint8Array<ArrayBuffer> | FormData | ReadableStream<Uint8Array>;
  /**
   * True for a call that makes billed work: then whatever leaves open whether it arrived is `outcome_unknown`, never a failure that is
   * tried again.
   */
  readonly creates?: boolean;
  readonly signal: AbortSignal;
  /** In place of the client's own. */
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

export interface ProviderApiOptions {
  readonly fetch: typeof fetch;
  /** `https://api.example/v1`, without a slash at its end. */
  readonly baseUrl: string;
  /** Sent with every call: the key, mostly. */
  readonly headers?: { readonly [name: string]: string };
  readonly timeoutMs: number;
  /** Of a body; 64 MiB by default. */
  readonly maxBytes?: number;
  /**
   * The failure that an answer stands for, by the provider's own table; null: it is a good one. Left out, or undefined: {@link failureOf} the
   * status. Looked at for every answer, since some providers say 200 to errors.
   */
  readonly judge?: (answer: ApiAnswer, call: ApiCall) => ProviderFailure | null | undefined;
}

const MAX_BYTES = 64 * 1024 * 1024;

const SECRET_HEADER = /auth|key|token|secret|licen[cs]e|cookie|password/i;

/** What is shorter could be any word of a message. */
const SECRET_MIN_LENGTH = 6;

/** Errors that come before anything was sent. */
const NOT_SENT: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ENETUNREACH", "EHOSTUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/** A client of one provider's HTTP API whose every failure is a {@link ProviderFailure}. It follows no redirect, retries nothing and logs nothing. */
export class ProviderApi {
  constructor(private readonly options: ProviderApiOptions) {}

  /** @throws {ProviderFailure} nothing else, but for a bug */
  async call(call: ApiCall): Promise<ApiAnswer> {
    const answer = await this.exchange(call);
    const judged = this.options.judge?.(answer, call);
    const failure = judged === undefined ? failureOf(answer, call) : judged;
    if (failure !== null) throw this.masked(failure);
    return answer;
  }

  /** Some providers repeat the key when they refuse it: it must not get into a log by way of their words. */
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

  private async exchange(call: ApiCall): Promise<ApiAnswer> {
    const { options } = this;
    const timeout = AbortSignal.timeout(call.timeoutMs ?? options.timeoutMs);
    const signal = AbortSignal.any([call.signal, timeout]);
    if (call.signal.aborted) throw new ProviderFailure("unavailable", "Stopped before the call was made.", { billable: "no" });
    try {
      const form = call.body instanceof FormData ? await inOnePiece(call.body) : null;
      const response = await options.fetch(this.urlOf(call.path), {
        method: call.method ?? (call.json === undefined && call.body === undefined ? "GET" : "POST"),
        headers: {
          accept: "application/json",
          ...options.headers,
          ...(call.json === undefined ? {} : { "content-type": "application/json" }),
          ...call.headers,
          ...(form === null ? {} : { "content-type": form.contentType }),
        },
        ...(call.json === undefined ? {} : { body: JSON.stringify(call.json) }),
        ...(call.body === undefined ? {} : { body: form?.bytes ?? call.body }),
        ...(call.body instanceof ReadableStream ? { duplex: "half" as const } : {}),
        redirect: "manual",
        signal,
      });
      return toAnswer(response, await readBody(response, call.maxBytes ?? options.maxBytes ?? MAX_BYTES));
    } catch (error) {
      if (ProviderFailure.is(error)) throw error;
      throw lostCall(call, error, timeout.aborted && !call.signal.aborted);
    }
  }

  private urlOf(path: string): string {
    const { baseUrl } = this.options;
    if (!/^https?:/i.test(path)) return baseUrl + path;
    // The key goes along with every call: a URL that an answer named may not carry it elsewhere.
    if (new URL(path).origin === new URL(baseUrl).origin) return path;
    throw new ProviderFailure("failed", `The provider named an address of another origin: ${new URL(path).origin}.`);
  }
}

/** A form that is sent as a stream can hang in Node's `fetch` when the connection is cut; one block of bytes fails as it should. */
async function inOnePiece(form: FormData): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly contentType: string }> {
  const encoded = new Response(form);
  return { bytes: new Uint8Array(await encoded.arrayBuffer()), contentType: encoded.headers.get("content-type") ?? "multipart/form-data" };
}

/** The failure that a status stands for where a provider follows common usage; null for 2xx. */
export function failureOf(answer: ApiAnswer, call: Pick<ApiCall, "creates"> = {}): ProviderFailure | null {
  const { status } = answer;
  if (status >= 200 && status < 300) return null;
  return providerFailure(kindOf(status, call.creates === true), answer);
}

/** A failure with all that an answer tells: status, an excerpt of the body, the wait it asks for, its request id. */
export function providerFailure(
  kind: ProviderFailureKind,
  answer: ApiAnswer,
  options: { readonly message?: string; readonly code?: string; readonly retryAfterMs?: number } = {},
): ProviderFailure {
  const { status, headers } = answer;
  const said = options.message ?? answer.text().replace(/\s+/gu, " ").slice(0, 300);
  const isUnknown = kind === "outcome_unknown" || kind === "failed";
  return new ProviderFailure(kind, `${status}${said === "" ? "" : `: ${said}`}`, {
    retryAfterMs: options.retryAfterMs ?? retryAfterMs(headers),
    billable: isUnknown ? "unknown" : "no",
    providerCode: options.code,
    requestId: headers.get("x-request-id") ?? headers.get("request-id") ?? undefined,
  });
}

/** `Retry-After` in milliseconds (RFC 9110, section 10.2.3); undefined without one. */
export function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (value === undefined || value === "") return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const [at, from] = [Date.parse(value), Date.parse(headers.get("date") ?? "")];
  return Number.isFinite(at) && Number.isFinite(from) ? Math.max(0, at - from) : undefined;
}

function kindOf(status: number, creates: boolean): ProviderFailureKind {
  if (status === 401 || status === 403) return "misconfigured";
  if (status === 402) return "out_of_credit";
  if (status === 404 || status === 410) return creates ? "misconfigured" : "gone";
  if (status === 408 || status === 425) return creates ? "outcome_unknown" : "unavailable";
  if (status === 429) return "rate_limited";
  if (status === 503) return "unavailable";
  if (status >= 500) return creates ? "outcome_unknown" : "unavailable";
  return status >= 400 ? "invalid_input" : "failed";
}

function lostCall(call: ApiCall, cause: unknown, timedOut: boolean): ProviderFailure {
  const code = errorCode(cause);
  const what = timedOut ? "No answer in time" : call.signal.aborted ? "The call was broken off" : "The connection failed";
  const message = `${what}${code === null ? "" : ` (${code})`}.`;
  if (code !== null && NOT_SENT.has(code)) return new ProviderFailure("unavailable", message, { cause, billable: "no" });
  return new ProviderFailure(call.creates === true ? "outcome_unknown" : "unavailable", message, { cause });
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
    if (length > maxBytes) throw new ProviderFailure("failed", `The answer is larger than ${maxBytes} bytes.`, { billable: "unknown" });
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

function toAnswer({ status, headers }: Response, bytes: Uint8Array): ApiAnswer {
  const text = (): string => new TextDecoder().decode(bytes);
  return {
    status,
    headers,
    bytes,
    text,
    json: () => {
      try {
        return JSON.parse(text()) as unknown;
      } catch {
        return undefined;
      }
    },
  };
}
