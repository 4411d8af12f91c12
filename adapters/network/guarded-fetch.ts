import type { Agent, Dispatcher } from "undici";
import { ConnectionFailedError, type GuardedConnector } from "./guarded-connector.js";

/** Idle connections are kept for this long. */
const KEEP_ALIVE_MS = 10_000;

/** For look-up, connection and handshake together. */
const CONNECT_MS = 15_000;

export interface GuardedFetchDeps {
  /** Why nothing may be sent to this URL, in words for operators; null when it may. */
  readonly refusal: (url: URL) => string | null;
  /** Opens the connections to an origin that may be called. */
  readonly connectorFor: (origin: URL) => GuardedConnector;
  /** The error of a call that was refused, by its URL or its address. */
  readonly refused: (words: string, cause: Error) => Error;
}

/** A request that was refused before it was sent. */
class RequestRefusedError extends Error {
  override readonly name = "RequestRefusedError";
}

/**
 * A `fetch` whose every request, each hop of a redirect included, is checked before it is sent, and whose connections
 * are guarded. Node's own gives up on a response after five minutes; this one waits, as a provider may compose for
 * longer and each call has a time-out of its own.
 */
export class GuardedFetch {
  private agent: Promise<{ readonly guarded: Dispatcher; readonly agent: Agent }> | null = null;

  constructor(private readonly deps: GuardedFetchDeps) {}

  /** @throws what `deps.refused` gives, where nothing was sent; else as Node's */
  readonly fetch: typeof fetch = async (input, init) => {
    const { guarded } = await this.opened();
    try {
      // Types only: those of Node's own undici are of another version than the package's.
      return await fetch(input, { ...init, dispatcher: guarded } as unknown as RequestInit);
    } catch (error) {
      const refusal = refusalIn(error);
      throw refusal === null ? error : this.deps.refused(refusal.message, refusal);
    }
  };

  /** Aborts what runs. */
  async close(): Promise<void> {
    await (await this.agent)?.agent.destroy();
  }

  /** Loaded with the first call: a start without hosted providers has no use for it. */
  private opened(): Promise<{ readonly guarded: Dispatcher; readonly agent: Agent }> {
    this.agent ??= this.open();
    return this.agent;
  }

  private async open(): Promise<{ readonly guarded: Dispatcher; readonly agent: Agent }> {
    const { refusal, connectorFor } = this.deps;
    const { Agent } = await import("undici");
    const agent = new Agent({
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      connect: (target, callback) => {
        const host = target.hostname.includes(":") ? `[${target.hostname.replace(/[[\]]/g, "")}]` : target.hostname;
        const origin = new URL(`${target.protocol}//${host}:${target.port}`);
        connectorFor(origin).forUndici(CONNECT_MS)(target, callback);
      },
    });
    const guarded = agent.compose((dispatch) => (options, handler) => {
      const words = refusal(new URL(String(options.origin)));
      if (words !== null) throw new RequestRefusedError(words);
      return dispatch(options, handler);
    });
    return { guarded, agent };
  }
}

/** What refused a request, along the causes: fetch hides it behind an error of its own. */
function refusalIn(error: unknown): Error | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof RequestRefusedError) return at;
    if (at instanceof ConnectionFailedError && at.failure === "blocked_address") return at;
  }
  return null;
}
