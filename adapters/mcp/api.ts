import { setTimeout as delay } from "node:timers/promises";
import { readEvents, type ApiEvent } from "./read-events.js";

/** The part of `fetch` that is used here. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface ApiOptions {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** The whole header: `Bearer …`. */
  readonly authorization: string;
  readonly fetch: Fetch;
}

/** An error of the API, or a server that cannot be reached (`unreachable`). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    /** 0: there was no response. */
    readonly status: number,
    readonly code: string,
    message: string,
    readonly about: {
      readonly details?: object;
      readonly requestId?: string;
      /** Seconds. */
      readonly retryAfter?: number;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: about.cause });
  }
}

/** How often a POST with an Idempotency-Key is sent at most, where it is not known whether it arrived. */
const SENDS_MAX = 3;
const RESEND_MS = 500;

/** The public API, as one caller uses it. */
export class Api {
  constructor(private readonly options: ApiOptions) {}

  /** @returns the `data` of the response @throws {ApiError} */
  get<T>(path: string, signal?: AbortSignal): Promise<T> {
    return this.send<T>("GET", path, {}, signal);
  }

  /**
   * Sends again what may not have arrived: the key makes sure that it counts once.
   *
   * @throws {ApiError}
   */
  async post<T>(path: string, body: object, idempotencyKey: string): Promise<T> {
    for (let sends = 1; ; sends++) {
      try {
        return await this.send<T>("POST", path, { body, idempotencyKey });
      } catch (error) {
        const isUnknown = error instanceof ApiError && (error.status === 0 || error.status === 503);
        if (!isUnknown || sends >= SENDS_MAX) throw error;
        await delay(RESEND_MS * sends);
      }
    }
  }

  /** Asks that the job be given up; one that has ended stays as it is. @throws {ApiError} */
  cancel(jobId: string): Promise<unknown> {
    return this.send("POST", `/api/v1/jobs/${encodeURIComponent(jobId)}/cancel`, {});
  }

  /**
   * What happened to a job and what happens, until it ends. The generator also ends when the server ends the stream.
   *
   * @param after the id of the last event that is known
   * @throws {ApiError}
   */
  async *events(jobId: string, after: string | null, signal: AbortSignal): AsyncGenerator<ApiEvent> {
    const headers = { Accept: "text/event-stream", ...(after === null ? {} : { "Last-Event-ID": after }) };
    const path = `/api/v1/jobs/${encodeURIComponent(jobId)}/events`;
    const response = await this.fetch(path, { method: "GET", headers, signal });
    if (!response.ok) throw await errorOf(response);
    if (response.body !== null) yield* readEvents(response.body);
  }

  private async send<T>(
    method: string,
    path: string,
    { body, idempotencyKey }: { readonly body?: object; readonly idempotencyKey?: string },
    signal?: AbortSignal,
  ): Promise<T> {
    const response = await this.fetch(path, {
      method,
      headers: {
        Accept: "application/json",
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (!response.ok) throw await errorOf(response);
    return ((await response.json()) as { readonly data: T }).data;
  }

  private async fetch(path: string, init: RequestInit): Promise<Response> {
    const { baseUrl, authorization, fetch } = this.options;
    const headers = { "X-Client": "mcp", ...(init.headers as Record<string, string>), Authorization: authorization };
    try {
      return await fetch(`${baseUrl}${path}`, { ...init, headers, redirect: "error" });
    } catch (cause) {
      if (init.signal?.aborted === true) throw cause;
      throw new ApiError(0, "unreachable", `The server at ${baseUrl} cannot be reached${reasonOf(cause)}.`, { cause });
    }
  }
}

async function errorOf(response: Response): Promise<ApiError> {
  const retryAfter = Number(response.headers.get("Retry-After") ?? NaN);
  const about = Number.isFinite(retryAfter) ? { retryAfter } : {};
  const body = (await response.json().catch(() => null)) as { readonly error?: Partial<ShownError> } | null;
  const { code, message, details, request_id: requestId } = body?.error ?? {};
  if (typeof code !== "string" || typeof message !== "string") {
    return new ApiError(response.status, "unexpected_response", `The server sent status ${response.status}.`, about);
  }
  return new ApiError(response.status, code, message, {
    ...about,
    ...(details === undefined ? {} : { details }),
    ...(requestId === undefined ? {} : { requestId }),
  });
}

interface ShownError {
  readonly code: string;
  readonly message: string;
  readonly request_id: string;
  readonly details: object;
}

/** Node says why in the cause: `ECONNREFUSED`. */
function reasonOf(error: unknown): string {
  const { code } = ((error as Error | undefined)?.cause ?? error) as { readonly code?: unknown };
  return typeof code === "string" ? ` (${code})` : "";
}
