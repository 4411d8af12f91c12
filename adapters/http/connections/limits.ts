/** What one client, one network and all clients together may hold of the server. */
export interface ConnectionLimits {
  /** Connections open at once; further ones are closed unread. */
  readonly maxConnections: number;
  /** Of one network; further ones get a 429 and are closed. Trusted proxies are not counted. */
  readonly maxConnectionsPerNetwork: number;
  /** Requests of one connection that have no complete response yet; with one more the connection closes. */
  readonly maxPipelined: number;
  /** How long a request may take to arrive, its body included. */
  readonly requestTimeoutMs: number;
  /** How long a client may read nothing of a response before its connection is closed. */
  readonly stalledResponseMs: number;
}

/** What `config/README.md` has as defaults. */
export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  maxConnections: 4_096,
  maxConnectionsPerNetwork: 512,
  maxPipelined: 16,
  requestTimeoutMs: 20_000,
  stalledResponseMs: 60_000,
};
