import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { RateLimitedError } from "../../../core/errors.js";
import { clientNetwork } from "../../../core/rate-limits/client-network.js";
import type { Lifecycle } from "../lifecycle.js";
import { closeSoon, refuseConnection, stopReading } from "./close.js";
import type { ConnectionLimits } from "./limits.js";

/** Of one network, connections that are being refused with a response; those beyond are closed without one. */
const REFUSED_AT_ONCE_MAX = 64;
const RETRY_AFTER_SECONDS = 5;

export type RefusedConnection = "too_many_connections" | "too_many_connections_of_network" | "too_many_pipelined";

export interface ConnectionsDeps {
  readonly limits: ConnectionLimits;
  readonly lifecycle: Lifecycle;
  /** Whether connections from this address carry the requests of others. */
  readonly isTrustedProxy: (address: string) => boolean;
  readonly nextRequestId: () => string;
  /** Called for each connection that is closed for one of the limits. */
  readonly onRefused: (reason: RefusedConnection, network: string | null) => void;
}

/** The connections of a server, within the limits of their number and of what each may ask at once. */
export class Connections {
  private readonly byNetwork = new Map<string, number>();
  private readonly closing = new WeakSet<Socket>();

  constructor(private readonly deps: ConnectionsDeps) {}

  attach(server: Server): void {
    server.maxConnections = this.deps.limits.maxConnections;
    server.on("drop", () => this.deps.onRefused("too_many_connections", null));
    server.on("connection", (socket: Socket) => this.open(socket));
  }

  /**
   * Whether a request is to be served. False for what follows on a connection that has as many unfinished responses as
   * it may, which then closes.
   */
  admits({ socket }: IncomingMessage): boolean {
    if (this.closing.has(socket)) {
      stopReading(socket);
      return false;
    }
    const { lifecycle, limits, onRefused } = this.deps;
    if (lifecycle.unfinishedOn(socket) < limits.maxPipelined) return true;
    this.closing.add(socket);
    stopReading(socket);
    // What was accepted may still be read by a client that reads.
    lifecycle.whenFinishedOn(socket, () => socket.destroySoon());
    closeSoon(socket);
    onRefused("too_many_pipelined", networkOf(socket));
    return false;
  }

  private open(socket: Socket): void {
    const address = socket.remoteAddress;
    // Undefined: the client is gone already.
    if (address === undefined || this.deps.isTrustedProxy(address)) return;
    const network = clientNetwork(address);
    const open = (this.byNetwork.get(network) ?? 0) + 1;
    this.byNetwork.set(network, open);
    socket.once("close", () => this.release(network));
    const { maxConnectionsPerNetwork } = this.deps.limits;
    if (open > maxConnectionsPerNetwork) this.refuse(socket, network, open - maxConnectionsPerNetwork);
  }

  private refuse(socket: Socket, network: string, excess: number): void {
    const { limits, nextRequestId, onRefused } = this.deps;
    this.closing.add(socket);
    if (excess > REFUSED_AT_ONCE_MAX) socket.destroy();
    else {
      const limit = limits.maxConnectionsPerNetwork;
      const error = new RateLimitedError(
        { limit, window_seconds: 0, retry_after_seconds: RETRY_AFTER_SECONDS },
        `More than ${limit} connections at once from one network. Try again in ${RETRY_AFTER_SECONDS} s.`,
      );
      refuseConnection(socket, "429 Too Many Requests", error, nextRequestId());
    }
    onRefused("too_many_connections_of_network", network);
  }

  private release(network: string): void {
    const open = (this.byNetwork.get(network) ?? 0) - 1;
    if (open > 0) this.byNetwork.set(network, open);
    else this.byNetwork.delete(network);
  }
}

function networkOf({ remoteAddress }: Socket): string {
  return clientNetwork(remoteAddress);
}
