import type { Socket } from "node:net";
import type { buildConnector, Client } from "undici";

/** Idle connections that are kept, for one origin and for all. */
const KEPT_PER_ORIGIN_MAX = 20;
const KEPT_MAX = 200;

/** How long one may be idle; a shorter `Keep-Alive` timeout of the receiver counts, to the second. */
const IDLE_MS = 4_000;
const IDLE_MAX_MS = 10_000;

/** A connection that is always busy would never learn that its name has moved. */
const AGE_MAX_MS = 60_000;

/** The code of an error: the connection was over before the client got to use it. */
export const ENDED_CODE = "CONNECTION_ENDED";

/** One connection to a receiver, for one message after the other. */
export class Connection {
  private readonly openedAt = performance.now();
  private goneListener: () => void = () => undefined;

  private constructor(
    readonly origin: string,
    readonly client: Client,
    private readonly socket: Socket,
  ) {
    client.once("disconnect", () => this.goneListener());
  }

  /**
   * What makes one of a socket, at once: a socket without listeners would end the process with its first error. The
   * client is loaded with the first, since many installations send no webhooks.
   */
  static async opener(): Promise<(origin: string, socket: Socket) => Connection> {
    const { Client } = await import("undici");
    return (origin, socket) => {
      const client = new Client(origin, {
        connect: handOver(socket),
        keepAliveTimeout: IDLE_MS,
        keepAliveMaxTimeout: IDLE_MAX_MS,
        // The sender has one deadline for everything.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      return new Connection(origin, client, socket);
    };
  }

  get isFit(): boolean {
    return !this.socket.destroyed && performance.now() - this.openedAt < AGE_MAX_MS;
  }

  /** Calls the one listener when either side ends it. */
  whenGone(listener: () => void): void {
    this.goneListener = listener;
  }

  /** Ends it, also during a request. */
  end(): void {
    // The client notices; it has no other socket, and gets none.
    this.socket.destroy();
  }
}

/** Connections that wait for the next message to the same origin: few enough to look through. */
export class KeptConnections {
  /** The one that was used last is the last. */
  private readonly idle: Connection[] = [];

  /** The one that was idle for the shortest time; null when there is none. */
  take(origin: string): Connection | null {
    for (;;) {
      const connection = this.idle.findLast((one) => one.origin === origin);
      if (connection === undefined) return null;
      this.remove(connection);
      if (connection.isFit) return connection;
      connection.end();
    }
  }

  keep(connection: Connection): void {
    const isFull = this.idle.length >= KEPT_MAX || this.countOf(connection.origin) >= KEPT_PER_ORIGIN_MAX;
    if (!connection.isFit || isFull) return connection.end();
    this.idle.push(connection);
    connection.whenGone(() => {
      this.remove(connection);
      connection.end();
    });
  }

  close(): void {
    for (const connection of [...this.idle]) {
      this.remove(connection);
      connection.end();
    }
  }

  private countOf(origin: string): number {
    return this.idle.reduce((count, one) => count + (one.origin === origin ? 1 : 0), 0);
  }

  private remove(connection: Connection): void {
    connection.whenGone(() => undefined);
    const index = this.idle.indexOf(connection);
    if (index !== -1) this.idle.splice(index, 1);
  }
}

/** Gives the client the one socket. It cannot open another, unchecked one. */
function handOver(socket: Socket): buildConnector.connector {
  let isGiven = false;
  return (_options, callback) => {
    // Not at once: undici goes on with the request only when it is called back later.
    queueMicrotask(() => {
      if (isGiven) return callback(Object.assign(new Error("The connection has ended."), { code: ENDED_CODE }), null);
      isGiven = true;
      callback(null, socket);
    });
  };
}
