import { Agent } from "undici";

/** Idle connections to a provider are kept for this long. */
const KEEP_ALIVE_MS = 10_000;

/**
 * What plugins call their provider with. Node's own `fetch` gives up on an answer after five minutes; a provider may compose for longer, and
 * each call has a time-out of its own.
 */
export class ProviderFetch {
  private readonly agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS });

  // Types only: those of Node's own undici are of another version than the package's.
  readonly fetch: typeof fetch = (input, init) => fetch(input, { ...init, dispatcher: this.agent } as unknown as RequestInit);

  close(): Promise<void> {
    return this.agent.destroy();
  }
}
