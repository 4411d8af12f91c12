/** Messages for connection errors. Text from the other side is shortened and sanitized. */

const TCP: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refused the connection",
  ECONNRESET: "reset the connection",
  EHOSTUNREACH: "cannot be reached",
  ENETUNREACH: "is in a network that cannot be reached",
  EADDRNOTAVAIL: "cannot be reached from this machine",
  ETIMEDOUT: "did not answer",
  EACCES: "may not be connected to from this machine",
  EPERM: "may not be connected to from this machine",
  EMFILE: "was not tried: this process has too many files open",
};

const TLS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  CERT_REVOKED: "its certificate was revoked",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate was issued by an authority that is not trusted",
  UNABLE_TO_GET_ISSUER_CERT:
    "its certificate was issued by an authority that is not trusted, or an intermediate certificate is missing",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    "its certificate was issued by an authority that is not trusted, or an intermediate certificate is missing",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    "its certificate was issued by an authority that is not trusted, or an intermediate certificate is missing",
  CERT_SIGNATURE_FAILURE: "the signature of its certificate is wrong",
  INVALID_PURPOSE: "its certificate is not meant for servers",
  ECONNRESET: "it ended the connection during the TLS handshake",
  EPIPE: "it ended the connection during the TLS handshake",
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not speak TLS",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "it does not speak TLS",
  ERR_SSL_HTTP_REQUEST: "it does not speak TLS",
  ERR_SSL_UNSUPPORTED_PROTOCOL: "it speaks no TLS of version 1.2 or newer",
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: "it speaks no TLS of version 1.2 or newer",
};

const NAMES_MAX_LENGTH = 200;

export function tcpProblem(address: string, error: NodeJS.ErrnoException): string {
  return `${address} ${TCP[error.code ?? ""] ?? `failed (${error.code ?? "unknown"})`}`;
}

export function tlsProblem(
  hostname: string,
  error: NodeJS.ErrnoException & { readonly cert?: { readonly subjectaltname?: string } },
): string {
  if (error.code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    const names = error.cert?.subjectaltname;
    return `its certificate is not for ${hostname} but for ${names === undefined ? "no name" : printable(names)}`;
  }
  return TLS[error.code ?? ""] ?? `the TLS handshake failed (${error.code ?? "unknown"})`;
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, NAMES_MAX_LENGTH);
}
