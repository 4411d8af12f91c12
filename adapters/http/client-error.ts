import type { Duplex } from "node:stream";
import type { RequestId } from "../../core/ids.js";
import { toErrorEnvelope } from "./errors.js";

interface Refusal {
  readonly status: string;
  readonly message: string;
}

const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { status: "431 Request Header Fields Too Large", message: "The headers are too large." },
  ERR_HTTP_REQUEST_TIMEOUT: { status: "408 Request Timeout", message: "The request did not arrive in time." },
};
const MALFORMED: Refusal = { status: "400 Bad Request", message: "This is not a well-formed HTTP/1.1 request." };

/** Answers what could not be read as a request, in the envelope of all errors, and closes the connection. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex, requestId: RequestId): void {
  const { _httpMessage: unfinished } = socket as { _httpMessage?: { headersSent: boolean } | null };
  if (error.code === "ECONNRESET" || !socket.writable || unfinished?.headersSent === true) {
    socket.destroy();
    return;
  }
  const { status, message } = REFUSALS[error.code ?? ""] ?? MALFORMED;
  const body = JSON.stringify(toErrorEnvelope({ code: "invalid_request", message }, requestId));
  const head = [
    `HTTP/1.1 ${status}`,
    "Connection: close",
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Cache-Control: no-store",
    "X-Content-Type-Options: nosniff",
    `X-Request-Id: ${requestId}`,
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
