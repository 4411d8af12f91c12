import type { Agent } from "undici";

/** Idle connections to a provider are kept for this long. */
const KEEP_ALIVE_MS = 10_000;

/**
 * What plugins call their provider with. Node's own `fetch` gives up on an answer after five minutes; a provider may compose for longer, and
 * each call has a time-out of its own.
 */
export class ProviderFetch {
  private agent: Promise<Agent> | null = null;

  // Types only: those of Node's own undici are of another version than the package's.
  readonly fetch: typeof fetch = async (input, init) => fetch(input, { ...init, dispatcher: await this.dispatcher() } as unknown as RequestInit);

  async close(): Promise<void> {
    await (await this.agent)?.destroy();
  }

  /** Loaded with the first call: a start without hosted providers has no use for it. */
  private dispatcher(): Promise<Agent> {
    this.agent ??= import("undici").then(({ Agent }) => new Agent({ headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS }));
    return this.agent;
  }
}
