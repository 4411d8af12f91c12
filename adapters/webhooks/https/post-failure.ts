import type { WebhookFailure } from "../../../core/ports/webhook-sender.js";
import { ENDED_CODE } from "./connections.js";
import type { PostResult } from "./post.js";

const ENDED = "the receiver ended the connection";

/** What undici, Node and OpenSSL call it. */
const WORDS: Readonly<Record<string, string>> = {
  [ENDED_CODE]: ENDED,
  UND_ERR_SOCKET: ENDED,
  ECONNRESET: "the receiver reset the connection",
  EPIPE: ENDED,
  UND_ERR_HEADERS_OVERFLOW: "its headers are too long",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "it is not as long as it says",
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: "the receiver wants a client certificate",
};

/** True when a connection turned out to have ended before the first byte of a response. */
export function isGone({ status, end }: PostResult): boolean {
  return (
    status === null &&
    end instanceof Error &&
    [ENDED_CODE, "UND_ERR_SOCKET", "ECONNRESET", "EPIPE"].includes(codeOf(end))
  );
}

/** The class and the message of a request that failed by itself. */
export function postFailure(error: Error): { readonly failure: WebhookFailure; readonly words: string } {
  const code = codeOf(error);
  // With TLS 1.3 a server objects to the client only after the handshake.
  const failure = code.startsWith("ERR_SSL_") ? "tls" : "protocol";
  // undici's parser knows its codes by number only.
  const words = error.name === "HTTPParserError" ? "it is no HTTP/1.1" : WORDS[code];
  return { failure, words: words ?? `the connection failed (${code === "" ? error.message : code})` };
}

function codeOf(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}
