import type { Duplex } from "node:stream";
import { errorHeaders } from "../errors.js";
import { type ShownError, toErrorEnvelope } from "../presenters/error.js";

/** How long a connection that the server ended may stay open: a client that never ends its side holds it otherwise. */
const CLOSE_GRACE_MS = 1_000;

/** Destroys a connection a second from now, unless it closes before. */
export function closeSoon(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), CLOSE_GRACE_MS).unref();
  socket.once("close", () => clearTimeout(timer));
}

/** Sends an error on a connection without a pending request, ends it, and destroys it a second later. */
export function refuseConnection(socket: Duplex, status: string, error: ShownError, requestId: string): void {
  const body = JSON.stringify(toErrorEnvelope(error, requestId));
  const head = [
    `HTTP/1.1 ${status}`,
    "Connection: close",
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Cache-Control: no-store",
    "X-Content-Type-Options: nosniff",
    `X-Request-Id: ${requestId}`,
    ...Object.entries(errorHeaders(error)).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  closeSoon(socket);
}

/** The error that Node reports of a connection whose reading was stopped. */
const STOPPED = "HPE_CB_HEADERS_COMPLETE";
const PARSER_ERROR = -1;

/**
 * Ends the reading of requests on a connection, in the middle of a packet if need be: Node hands over the thousands of
 * requests of one packet in any case, and aborts each at a cost when the connection closes. `clientError` then reports
 * what {@link isStopped} knows.
 */
export function stopReading(socket: Duplex): void {
  socket.pause();
  // Not public; a pause of the parser holds from the next packet on only. Without it all are read, and dropped.
  const { parser } = socket as { parser?: { onIncoming?: () => number } | null };
  if (parser?.onIncoming !== undefined) parser.onIncoming = () => PARSER_ERROR;
}

export function isStopped(error: NodeJS.ErrnoException): boolean {
  return error.code === STOPPED;
}
