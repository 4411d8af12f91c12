import { AbortedError, type ErrorBody, type ErrorContext, FermataError, NetworkError, toError } from "./errors.js";
import { isRepeatable, retryDelay } from "./retry.js";
import type { Sleep } from "./wait.js";

export interface TransportOptions {
  readonly fetch: typeof globalThis.fetch;
  /** How often a request is sent again at most. */
  readonly retries: number;
  /** No try begins later than this after the first one, in ms. */
  readonly retryForMs: number;
  /** After so many ms without a whole response it counts as lost, where the request can be sent again. */
  readonly timeoutMs: number;
  readonly sleep: Sleep;
}

/** A response, read to its end. */
interface Read {
  readonly response: Response;
  readonly text: string;
}

/**
 * A `fetch` that returns successes alone, whole ones, and sends a request again where that is safe.
 *
 * @throws {FermataError} the response is an error, or none came
 */
export function createTransport(options: TransportOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const isSafe = isRepeatable(request);
    const context = { idempotencyKey: request.headers.get("Idempotency-Key") };
    const startedAt = Date.now();
    for (let tried = 0; ; tried += 1) {
      const read = await attempt(request, isSafe, options, context);
      if (!(read instanceof NetworkError) && read.response.ok) return asResponse(read);
      const failure = read instanceof NetworkError ? null : read.response;
      const delay = isSafe && tried < options.retries ? retryDelay(failure, tried, Math.random(), Date.now()) : null;
      // A server that asks for more patience than is left would be asked too early.
      if (delay === null || Date.now() - startedAt + delay > options.retryForMs)
        throw read instanceof NetworkError ? read : errorOf(read, context);
      await options.sleep(delay, request.signal).catch((error: FermataError) => {
        throw new AbortedError({ ...context, cause: error.cause });
      });
    }
  };
}

async function attempt(
  request: Request,
  isSafe: boolean,
  { fetch, timeoutMs }: TransportOptions,
  context: ErrorContext,
): Promise<Read | NetworkError> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new Error(`No response within ${timeoutMs} ms.`)), timeoutMs);
  try {
    // What cannot be sent again may take its time, as the upload of a file does.
    const response = await (isSafe
      ? fetch(request.clone(), { signal: AbortSignal.any([request.signal, timeout.signal]) })
      : fetch(request));
    const text = await response.text();
    // A reply that was cut off where its end is not marked looks whole but for this.
    if (response.ok && text !== "") JSON.parse(text);
    return { response, text };
  } catch (cause) {
    if (request.signal.aborted) throw new AbortedError({ ...context, cause: request.signal.reason });
    const { origin, pathname } = new URL(request.url);
    return new NetworkError(`No whole response to ${request.method} ${origin}${pathname}.`, { ...context, cause });
  } finally {
    clearTimeout(timer);
  }
}

function asResponse({ response: { status, headers }, text }: Read): Response {
  return new Response(text === "" ? null : text, { status, headers });
}

/** The error of a response; one that is none of Fermata's, but of a proxy, is a plain {@link FermataError}. */
function errorOf({ response, text }: Read, given: ErrorContext): FermataError {
  const context = { ...given, status: response.status };
  const body = bodyOf(text);
  if (body !== null) return toError(body, context);
  const requestId = response.headers.get("X-Request-Id");
  return new FermataError(`The server responded with ${response.status}.`, { ...context, requestId });
}

function bodyOf(text: string): ErrorBody | null {
  try {
    const { error } = JSON.parse(text) as { readonly error?: Partial<ErrorBody> };
    return typeof error?.code === "string" && typeof error.message === "string" ? (error as ErrorBody) : null;
  } catch {
    return null;
  }
}
