import { setTimeout as sleep } from "node:timers/promises";
import { CallerApiError } from "./caller-api.js";
import type { CallerServer } from "./caller-host.js";
import { CLIENT } from "./words.js";

const TRIES = 5;
const FIRST_PAUSE_MS = 500;
/** A server that wants a longer pause is not waited for. */
const PAUSE_MAX_MS = 30_000;
const TIMEOUT_MS = 60_000;
/** A gateway's own, without an error of the API; what was asked for may still be asked again. */
const GATEWAY_FAILURES = [502, 503, 504];

interface Call {
  readonly method: "GET" | "POST";
  readonly body?: object;
  readonly key?: string | null;
}

/** Calls with one key. What can be repeated is repeated while the server or the connection fails. */
export class HttpCalls {
  constructor(
    private readonly server: CallerServer,
    private readonly fetch: typeof globalThis.fetch,
  ) {}

  get<T>(path: string): Promise<T> {
    return this.call(path, { method: "GET" });
  }

  /** @param key makes it repeatable; null: it is so by its nature */
  post<T>(path: string, body: object, key: string | null): Promise<T> {
    return this.call(path, { method: "POST", body, key });
  }

  /** A stream of server-sent events; null where there is none (any more). */
  async openStream(path: string, lastEventId: string | undefined, signal: AbortSignal): Promise<Response | null> {
    const headers = {
      ...this.headers(),
      Accept: "text/event-stream",
      ...(lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId }),
    };
    const response = await this.send(path, { headers, signal });
    if (response.status === 200 && response.headers.get("content-type")?.startsWith("text/event-stream") === true)
      return response;
    await response.body?.cancel();
    return null;
  }

  private headers(): Record<string, string> {
    return { Authorization: `Bearer ${this.server.apiKey}`, "X-Client": CLIENT };
  }

  private async call<T>(path: string, call: Call): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const pauseMs = FIRST_PAUSE_MS * 2 ** (attempt - 1);
      try {
        return await this.callOnce(path, call);
      } catch (error) {
        const wanted = error instanceof RetriableError ? (error.retryAfterMs ?? pauseMs) : Infinity;
        if (wanted > PAUSE_MAX_MS || attempt === TRIES) throw error instanceof RetriableError ? error.failure : error;
        await sleep(Math.max(wanted, pauseMs));
      }
    }
  }

  private async callOnce<T>(path: string, { method, body, key }: Call): Promise<T> {
    const response = await this.send(path, {
      method,
      headers: {
        ...this.headers(),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(key === undefined || key === null ? {} : { "Idempotency-Key": key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { data, error } = envelopeIn(await response.text().catch((cause: unknown) => this.lost(cause)));
    if (response.ok && data !== undefined) return data as T;
    const failure =
      error === undefined
        ? new CallerApiError("failed", response.status, `${this.server.url} responded with ${response.status}.`)
        : new CallerApiError(
            error.code,
            response.status,
            `${error.message} (request ${error.request_id})`,
            error.details,
          );
    const isTemporary = error === undefined && GATEWAY_FAILURES.includes(response.status);
    if (response.status === 429 || response.status === 503 || isTemporary)
      throw new RetriableError(failure, retryAfterOf(response));
    throw failure;
  }

  private async send(path: string, init: RequestInit): Promise<Response> {
    // The key goes to the server that was named, and not where that sends it.
    const given = { ...init, redirect: "manual" as const };
    return this.fetch(`${this.server.url}/api/v1${path}`, given).catch((cause: unknown) => this.lost(cause));
  }

  private lost(error: unknown): never {
    if (!(error instanceof Error) || error.name === "AbortError") throw error;
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    const message = `${this.server.url} did not respond: ${reason}.`;
    throw new RetriableError(new CallerApiError("connection_failed", null, message, undefined, { cause: error }), null);
  }
}

/** A failure after which the same call may succeed. */
class RetriableError extends CallerApiError {
  constructor(
    readonly failure: CallerApiError,
    readonly retryAfterMs: number | null,
  ) {
    super(failure.code, failure.status, failure.message, failure.details, { cause: failure });
  }
}

interface Envelope {
  readonly data?: object;
  readonly error?: { readonly code: string; readonly message: string; readonly request_id: string; details?: object };
}

/** Empty for anything but JSON, such as a page of a proxy. */
function envelopeIn(text: string): Envelope {
  try {
    return (JSON.parse(text) as Envelope | null) ?? {};
  } catch {
    return {};
  }
}

function retryAfterOf({ headers }: Response): number | null {
  const seconds = Number(headers.get("retry-after") ?? "none");
  return Number.isFinite(seconds) ? seconds * 1_000 : null;
}
