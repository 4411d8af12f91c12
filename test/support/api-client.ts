import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A response, read to its end. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed JSON; undefined when there is none. */
  readonly json: unknown;
}

export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** A string or bytes are sent unchanged, anything else as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export const A_GENERATION = { model_id: "scripted/song", prompt: "rain on a tin roof" } as const;

/** How long a patient client tries, and how often. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 100;

/** Calls the API with one key, or none. */
export class ApiClient {
  constructor(
    readonly url: string,
    readonly key: string | null,
  ) {}

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<ApiResponse> {
    return this.send("GET", path, { headers });
  }

  /** POST /api/v1/generations, under a fresh Idempotency-Key unless one is given. */
  generate(
    body: unknown = A_GENERATION,
    headers: Readonly<Record<string, string>> = {},
    signal?: AbortSignal,
  ): Promise<ApiResponse> {
    return this.send("POST", "/api/v1/generations", {
      headers: { "Content-Type": "application/json", "Idempotency-Key": randomUUID(), ...headers },
      body,
      ...(signal === undefined ? {} : { signal }),
    });
  }

  async send(method: string, path: string, { headers = {}, body, signal }: SendOptions = {}): Promise<ApiResponse> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      redirect: "manual",
      headers: { ...(this.key === null ? {} : { Authorization: `Bearer ${this.key}` }), ...headers },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true && text !== "";
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
  }
}

/** A client that reads again, as the API document says, while a database that comes and goes makes it `503`. */
export class PatientClient extends ApiClient {
  override async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<ApiResponse> {
    const endsAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const response = await super.get(path, headers);
      if (!isPutOff(response) || performance.now() > endsAt) return response;
      await sleep(PAUSE_MS);
    }
  }
}

/** Whether the service says that it is unavailable for now, and when to try again. */
export function isPutOff(response: ApiResponse): boolean {
  return (
    response.status === 503 && refusalOf(response) === "503 service_unavailable" && response.headers.has("Retry-After")
  );
}

/** The `data` of a success; otherwise fails the test with the whole response. */
export function dataOf<T = Record<string, unknown>>(response: ApiResponse): T {
  if (response.status >= 400) throw new Error(`Expected a success, got ${response.status}: ${response.text}`);
  return (response.json as { readonly data: T }).data;
}

export interface HttpStatusError {
  readonly code: string;
  readonly message: string;
  readonly request_id: string;
  readonly details?: {
    readonly issues?: readonly { readonly path: string; readonly message: string }[];
    readonly [name: string]: unknown;
  };
}

/** The `error` of a refusal. */
export function errorOf(response: ApiResponse): HttpStatusError {
  const { error } = (response.json ?? {}) as { readonly error?: HttpStatusError };
  if (error === undefined) throw new Error(`Expected an error, got ${response.status}: ${response.text}`);
  return error;
}

/** Status and code in one, as the error table has them: `404 job_not_found`. */
export function refusalOf(response: ApiResponse): string {
  return `${response.status} ${errorOf(response).code}`;
}

/** The paths of the issues of an invalid request. */
export function issuePaths(response: ApiResponse): string[] {
  return (errorOf(response).details?.issues ?? []).map(({ path }) => path);
}

/**
 * Writes bytes to a new connection and reads until the server closes it, or sends nothing for `silenceMs`. Without that
 * bound send `Connection: close`, or something malformed.
 */
export function rawRequest(url: string, bytes: string | Uint8Array, silenceMs?: number): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes));
    const chunks: Buffer[] = [];
    if (silenceMs !== undefined) socket.setTimeout(silenceMs, () => socket.destroy());
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
    socket.on("error", (error: NodeJS.ErrnoException) =>
      error.code === "ECONNRESET" || error.code === "EPIPE" ? undefined : reject(error),
    );
  });
}
