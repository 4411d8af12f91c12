import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { BodyBudget } from "./connections/body-budget.js";
import { StalledResponses } from "./connections/stalled-responses.js";

/** The responses of one connection that are not complete. */
interface OpenResponses {
  readonly responses: Set<ServerResponse>;
  whenFinished: (() => void) | null;
}

export interface LifecycleLimits {
  /** How long a client may read nothing of a response before its connection is closed. */
  readonly stalledResponseMs: number;
  /** The largest request body. */
  readonly bodyLimitBytes: number;
}

/** Tracks the open responses, and whether the server is stopping. */
export class Lifecycle {
  private readonly inFlight = new Set<ServerResponse>();
  private readonly bySocket = new WeakMap<Socket, OpenResponses>();
  private readonly stop = new AbortController();
  private readonly stalled: StalledResponses;
  private whenIdle: (() => void) | null = null;

  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal = this.stop.signal;
  /** What request bodies that still arrive may hold. */
  readonly bodies: BodyBudget;

  constructor({ stalledResponseMs, bodyLimitBytes }: LifecycleLimits) {
    this.stalled = new StalledResponses(this.inFlight, stalledResponseMs);
    this.bodies = new BodyBudget(bodyLimitBytes);
  }

  begin(response: ServerResponse): void {
    if (this.stopping.aborted) response.shouldKeepAlive = false;
    this.inFlight.add(response);
    this.openOn(response.req.socket).responses.add(response);
    this.stalled.watch();
  }

  end(response: ServerResponse): void {
    this.inFlight.delete(response);
    const open = this.bySocket.get(response.req.socket);
    open?.responses.delete(response);
    if (open?.responses.size === 0) open.whenFinished?.();
    if (this.inFlight.size === 0) this.whenIdle?.();
  }

  /** How many responses on this connection have begun and are not complete. */
  unfinishedOn(socket: Socket): number {
    return this.bySocket.get(socket)?.responses.size ?? 0;
  }

  /** Calls back once, when the responses that have begun on this connection are complete. */
  whenFinishedOn(socket: Socket, callback: () => void): void {
    const open = this.openOn(socket);
    if (open.responses.size === 0) callback();
    else open.whenFinished = callback;
  }

  /** Ends waits, and lets every connection close after its current response. */
  beginStop(): void {
    this.stop.abort();
    for (const response of this.inFlight) response.shouldKeepAlive = false;
  }

  /** Resolves when no response is open. */
  async idle(): Promise<void> {
    if (this.inFlight.size > 0) await new Promise<void>((resolve) => (this.whenIdle = resolve));
  }

  private openOn(socket: Socket): OpenResponses {
    let open = this.bySocket.get(socket);
    if (open === undefined) {
      this.bySocket.set(socket, (open = { responses: new Set(), whenFinished: null }));
      const { responses } = open;
      socket.once("close", () => setImmediate(closeAbandoned, responses));
    }
    return open;
  }
}

/**
 * Node closes only the first response in the queue of a connection that is gone. The others would wait for ever, and
 * with them the files that they are made of.
 */
function closeAbandoned(responses: ReadonlySet<ServerResponse>): void {
  for (const response of [...responses]) {
    response.destroyed = true;
    response.emit("close");
  }
}
