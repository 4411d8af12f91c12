import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type Member, Members } from "../../core/members.js";
import { BodyBudget } from "./connections/body-budget.js";
import { StalledResponses } from "./connections/stalled-responses.js";

/** The responses of one connection that are not complete. */
interface OpenResponses extends Member {
  readonly responses: ServerResponse[];
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
  /** The connections that have any. */
  private readonly active = new Members<OpenResponses>();
  private readonly bySocket = new WeakMap<Socket, OpenResponses>();
  private readonly stop = new AbortController();
  private readonly stalled: StalledResponses;
  private whenIdle: (() => void) | null = null;

  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal = this.stop.signal;
  /** What request bodies that still arrive may hold. */
  readonly bodies: BodyBudget;

  constructor({ stalledResponseMs, bodyLimitBytes }: LifecycleLimits) {
    this.stalled = new StalledResponses(() => this.open(), stalledResponseMs);
    this.bodies = new BodyBudget(bodyLimitBytes);
  }

  begin(response: ServerResponse): void {
    if (this.stopping.aborted) response.shouldKeepAlive = false;
    const connection = this.openOn(response.req.socket);
    if (connection.responses.push(response) === 1) this.active.add(connection);
    this.stalled.watch();
  }

  end(response: ServerResponse): void {
    const connection = this.bySocket.get(response.req.socket);
    const index = connection?.responses.indexOf(response) ?? -1;
    if (connection === undefined || index === -1) return;
    connection.responses.splice(index, 1);
    if (connection.responses.length > 0) return;
    this.active.delete(connection);
    connection.whenFinished?.();
    if (this.active.size === 0) this.whenIdle?.();
  }

  /** How many responses on this connection have begun and are not complete. */
  unfinishedOn(socket: Socket): number {
    return this.bySocket.get(socket)?.responses.length ?? 0;
  }

  /** Calls back once, when the responses that have begun on this connection are complete. */
  whenFinishedOn(socket: Socket, callback: () => void): void {
    const open = this.openOn(socket);
    if (open.responses.length === 0) callback();
    else open.whenFinished = callback;
  }

  /** Ends waits, and lets every connection close after its current response. */
  beginStop(): void {
    this.stop.abort();
    for (const response of this.open()) response.shouldKeepAlive = false;
  }

  /** Resolves when no response is open. */
  async idle(): Promise<void> {
    if (this.active.size > 0) await new Promise<void>((resolve) => (this.whenIdle = resolve));
  }

  private *open(): Generator<ServerResponse> {
    for (const { responses } of this.active) yield* responses;
  }

  private openOn(socket: Socket): OpenResponses {
    let open = this.bySocket.get(socket);
    if (open === undefined) {
      this.bySocket.set(socket, (open = { responses: [], place: -1, whenFinished: null }));
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
function closeAbandoned(responses: readonly ServerResponse[]): void {
  for (const response of [...responses]) {
    response.destroyed = true;
    response.emit("close");
  }
}
