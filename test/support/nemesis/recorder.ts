import { type ApiResponse, ApiClient, type SendOptions } from "../api-client.js";
import type { Action, Entry, Outcome } from "./history.js";

/** A process that serves clients. */
export interface Server {
  readonly name: string;
  readonly url: string;
}

/** A request that is to be recorded. */
export interface RecordedCall {
  readonly client: string;
  readonly server: Server;
  readonly accountId: string;
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly options?: SendOptions;
  /** After so long the client disconnects. */
  readonly patienceMs?: number;
}

/** A client that has waited for so long gives a request up, unless it does so earlier. */
const PATIENCE_MS = 8_000;

/** The history of all clients. */
export class Recorder {
  readonly entries: Entry[] = [];
  private readonly beganAt = performance.now();

  /** Milliseconds since the beginning of the run. */
  now(): number {
    return performance.now() - this.beganAt;
  }

  /** Sends a request and records it with what `read` makes of its response. */
  async send<Read extends Action>(
    { client, server, accountId, key, method, path, options = {}, patienceMs = PATIENCE_MS }: RecordedCall,
    read: (response: ApiResponse | null) => Read,
  ): Promise<{ readonly outcome: Outcome; readonly action: Read }> {
    const invokedAt = this.now();
    const signal = AbortSignal.timeout(patienceMs);
    const response = await new ApiClient(server.url, key)
      .send(method, path, { ...options, signal })
      .catch(orNoResponse);
    const outcome = outcomeOf(response);
    const action = read(outcome === "ok" ? response : null);
    const status = response?.status ?? null;
    const endedAt = this.now();
    this.entries.push({ client, server: server.name, accountId, invokedAt, endedAt, outcome, status, action });
    return { outcome, action };
  }

  /** In the order in which the requests were sent. */
  history(): readonly Entry[] {
    return [...this.entries].sort((one, other) => one.invokedAt - other.invokedAt);
  }
}

/** A server error leaves open what was done, and so does a response that never came. */
function outcomeOf(response: ApiResponse | null): Outcome {
  if (response === null || response.status >= 500) return "unknown";
  return response.status >= 400 ? "refused" : "ok";
}

/** The errors of `fetch` without a whole response. */
function orNoResponse(error: unknown): null {
  const isLost = error instanceof TypeError || (error instanceof DOMException && error.name === "TimeoutError");
  if (isLost) return null;
  throw error;
}
