import { setImmediate as nextTurn } from "node:timers/promises";
import type { Agent, buildConnector, Dispatcher } from "undici";
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

/** The call was over before its request was sent. */
class CallOverError extends Error {
  override readonly name = "CallOverError";
  /** @see ProviderHost.fetch */
  readonly notSent = true;
}

/**
 * A `fetch` whose every request, each hop of a redirect included, is checked before it is sent, and whose connections
 * are guarded. Node's own gives up on a response after five minutes; this one waits, as a provider may compose for
 * longer and each call has a time-out of its own.
 *
 * A process that stood still (a stopped container, a paused machine) learns of its time-outs only when its event loop
 * goes on: a turn of it passes before a request begins, and before it is written to a new connection, so that nothing
 * is sent for a call that was over meanwhile. Another process may have taken its work.
 */
export class GuardedFetch {
  private agent: Promise<{ readonly guarded: Dispatcher; readonly agent: Agent }> | null = null;

  constructor(private readonly deps: GuardedFetchDeps) {}

  /** @throws what `deps.refused` gives, or an error with `notSent`, where nothing was sent; else as Node's */
  readonly fetch: typeof fetch = async (input, init) => {
    const { guarded } = await this.opened();
    await timersThatAreDue();
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    if (signal?.aborted === true)
      throw new CallOverError("The call was over before it was sent.", { cause: signal.reason });
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
        connectorFor(origin).forUndici(CONNECT_MS)(target, afterTimers(callback));
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

/** Resolves after a turn of the event loop, in which timers that are due have run: they follow the first of these. */
async function timersThatAreDue(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/** Passes a new connection on once the calls that are over are known: undici writes to it at once. */
function afterTimers(callback: buildConnector.Callback): buildConnector.Callback {
  return (error, socket) => {
    if (error !== null) return callback(error, null);
    void timersThatAreDue().then(() => {
      if (!socket.destroyed) return callback(null, socket);
      callback(new ConnectionFailedError("connect", "The connection ended at once.", "ECONNRESET"), null);
    });
  };
}

/** What refused a request, along the causes: fetch hides it behind an error of its own. */
function refusalIn(error: unknown): Error | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof RequestRefusedError) return at;
    if (at instanceof ConnectionFailedError && at.failure === "blocked_address") return at;
  }
  return null;
}
