import type { Duplex } from "node:stream";
import type { RequestId } from "../../core/ids.js";
import { isStopped, refuseConnection } from "./connections/close.js";

interface Refusal {
  readonly status: string;
  readonly message: string;
}

const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { status: "431 Request Header Fields Too Large", message: "The headers are too large." },
  ERR_HTTP_REQUEST_TIMEOUT: { status: "408 Request Timeout", message: "The request did not arrive in time." },
};
const MALFORMED: Refusal = { status: "400 Bad Request", message: "This is not a well-formed HTTP/1.1 request." };

/**
 * Responds to bytes that Node could not parse as a request with an error in the usual envelope, and closes the
 * connection. A second later it destroys the connection if the client keeps its side open.
 */
export function sendClientError(error: NodeJS.ErrnoException, socket: Duplex, requestId: RequestId): void {
  // It is being closed already.
  if (isStopped(error)) return;
  const { _httpMessage: unfinished } = socket as { _httpMessage?: { headersSent: boolean } | null };
  if (error.code === "ECONNRESET" || !socket.writable || unfinished?.headersSent === true) {
    socket.destroy();
    return;
  }
  const { status, message } = REFUSALS[error.code ?? ""] ?? MALFORMED;
  refuseConnection(socket, status, { code: "invalid_request", message }, requestId);
}
