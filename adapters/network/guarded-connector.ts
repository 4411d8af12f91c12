import { X509Certificate } from "node:crypto";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls, createSecureContext, rootCertificates, type SecureContext } from "node:tls";
import type { buildConnector } from "undici";
import type { AddressGuard } from "../../core/ports/address-guard.js";
import { canonicalAddress, parseAddress } from "./addresses.js";
import { hostOf } from "./address-policy.js";
import { tcpProblem, tlsProblem } from "./connect-problem.js";

/** More addresses of one name are not tried. */
const ADDRESSES_MAX = 4;

const KEEP_ALIVE_AFTER_MS = 60_000;

const TLS_OPTIONS = { minVersion: "TLSv1.2" } as const;

export interface ConnectTarget {
  /** As `URL.hostname` has it. */
  readonly hostname: string;
  readonly port: number;
  /** Whether to speak TLS, verified for the name. */
  readonly secure: boolean;
  /** For look-up, connection and handshake together. */
  readonly timeoutMs: number;
  /** Breaks it off. */
  readonly signal?: AbortSignal;
}

export type ConnectFailure = "dns" | "blocked_address" | "connect" | "tls";

/** When each phase ended, in milliseconds from the start; null for one that was not reached. */
export interface ConnectPhases {
  readonly dnsMs: number | null;
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
}

/** A connection, or the phase that failed, why, in words for operators. */
export type Connected =
  | { readonly socket: Socket; readonly phases: ConnectPhases }
  | {
      readonly socket: null;
      readonly failure: ConnectFailure;
      readonly message: string;
      readonly code: string;
      readonly phases: ConnectPhases;
    };

export interface ConnectorDeps {
  readonly guard: AddressGuard;
  /** PEM certificates of authorities that are trusted in addition to the well-known ones. */
  readonly ca?: readonly string[];
  /** Opens a TCP connection to an address. */
  readonly open?: (address: string, port: number) => Socket;
}

/** Codes where a phase was over without one of the system. */
const CODES: Readonly<Record<ConnectFailure, string>> = {
  dns: "ENOTFOUND",
  blocked_address: "ERR_BLOCKED_ADDRESS",
  connect: "UND_ERR_CONNECT_TIMEOUT",
  tls: "ERR_TLS_HANDSHAKE",
};

/** Why there is no connection, for clients that take an error. */
export class ConnectionFailedError extends Error {
  override readonly name = "ConnectionFailedError";
  /** Not a byte of a request has left. @see ProviderHost.fetch */
  readonly notSent = true;

  /** @param code what the system calls it */
  constructor(
    readonly failure: ConnectFailure,
    message: string,
    readonly code: string = CODES[failure],
  ) {
    super(message);
  }
}

/**
 * Connects only to addresses that the {@link AddressGuard} admits: a literal is checked first, as is every address of a
 * name, and the address that the socket really has is compared before the first byte is written. Host and TLS name stay
 * what they were. It knows no proxy and no unix sockets, and no setting of the environment turns the verification of
 * certificates off.
 */
export class GuardedConnector {
  private readonly guard: AddressGuard;
  private readonly open: (address: string, port: number) => Socket;
  private context: SecureContext | null;

  /** @throws {Error} a certificate of `ca` is none */
  constructor({ guard, ca = [], open = (host, port) => connectTcp({ host, port, noDelay: true }) }: ConnectorDeps) {
    this.guard = guard;
    this.open = open;
    // A TLS context ignores entries that are not certificates.
    for (const certificate of ca) new X509Certificate(certificate);
    // Without own authorities it is created with the first connection: reading the well-known ones takes a while.
    this.context = ca.length === 0 ? null : createSecureContext({ ...TLS_OPTIONS, ca: [...rootCertificates, ...ca] });
  }

  /** Never rejects. The caller closes the socket. */
  async connect(target: ConnectTarget): Promise<Connected> {
    const attempt = new Attempt(target);
    try {
      const addresses = await attempt.within(
        "dns",
        attempt.leftMs,
        this.resolve(target, attempt),
        `${hostOf(target.hostname)}: no name server answered in time`,
      );
      attempt.ends("dnsMs");
      const socket = await this.openFirst(addresses, target.port, attempt);
      attempt.ends("connectMs");
      if (!target.secure) return { socket, phases: attempt.phases };
      const secured = await this.secure(socket, target, attempt);
      attempt.ends("tlsMs");
      return { socket: secured, phases: attempt.phases };
    } catch (error) {
      const { failure, message, code } =
        error instanceof ConnectionFailedError ? error : new ConnectionFailedError("connect", String(error));
      return { socket: null, failure, message, code, phases: attempt.phases };
    }
  }

  /** The same for a client or pool of undici (option `connect`), which gets a {@link ConnectionFailedError}. */
  forUndici(timeoutMs: number): buildConnector.connector {
    return ({ hostname, protocol, port }, callback) => {
      const secure = protocol === "https:";
      const target = { hostname, port: port === "" ? (secure ? 443 : 80) : Number(port), secure, timeoutMs };
      void this.connect(target).then((connected) => {
        if (connected.socket === null) callback(errorOf(connected), null);
        else callback(null, connected.socket);
      });
    };
  }

  private async resolve({ hostname }: ConnectTarget, attempt: Attempt): Promise<readonly string[]> {
    const host = hostOf(hostname);
    const resolution = await this.guard.resolve(hostname, attempt.leftMs);
    if (resolution.state === "allowed") return resolution.addresses;
    if (resolution.state === "unresolved") throw new ConnectionFailedError("dns", `${host}: ${resolution.reason}`);
    const addresses = resolution.addresses.filter((address) => address !== host);
    throw new ConnectionFailedError(
      "blocked_address",
      `${host}${addresses.length === 0 ? "" : ` (${addresses.slice(0, ADDRESSES_MAX).join(", ")})`} may not be ` +
        `connected to`,
    );
  }

  /** Tries the addresses in turn; each gets a fair share of the time that is left. */
  private async openFirst(addresses: readonly string[], port: number, attempt: Attempt): Promise<Socket> {
    const tried = addresses.slice(0, ADDRESSES_MAX);
    const problems: ConnectionFailedError[] = [];
    for (const [index, address] of tried.entries()) {
      const shareMs = Math.ceil(attempt.leftMs / (tried.length - index));
      const socket = this.open(address, port);
      try {
        await attempt.within(
          "connect",
          shareMs,
          opened(socket, `${address} port ${port}`),
          `${address} port ${port} did not answer within ${shareMs} ms`,
        );
        checkPeer(socket, address);
        return socket.setKeepAlive(true, KEEP_ALIVE_AFTER_MS);
      } catch (error) {
        discard(socket);
        if (!(error instanceof ConnectionFailedError) || error.failure !== "connect" || attempt.isAborted) throw error;
        problems.push(error);
      }
    }
    const words = problems.map(({ message }) => message).join("; ");
    throw new ConnectionFailedError("connect", words, problems[0]?.code);
  }

  private async secure(socket: Socket, { hostname }: ConnectTarget, attempt: Attempt): Promise<Socket> {
    const host = hostOf(hostname);
    this.context ??= createSecureContext(TLS_OPTIONS);
    const secured = connectTls({
      socket,
      host,
      // A server name is never an address (RFC 6066, 3); the certificate is then verified for `host`.
      ...(parseAddress(host) === null ? { servername: host } : {}),
      secureContext: this.context,
      rejectUnauthorized: true,
      ALPNProtocols: ["http/1.1"],
    });
    try {
      await attempt.within(
        "tls",
        attempt.leftMs,
        handshaken(secured, host),
        `${host}: the TLS handshake was not over in time`,
      );
      return secured;
    } catch (error) {
      discard(secured);
      discard(socket);
      throw error;
    }
  }
}

/** The time and the phases of one connection. */
class Attempt {
  private readonly startedAt = performance.now();
  private readonly ended: { -readonly [Phase in keyof ConnectPhases]: ConnectPhases[Phase] } = {
    dnsMs: null,
    connectMs: null,
    tlsMs: null,
  };

  constructor(private readonly target: ConnectTarget) {}

  get leftMs(): number {
    return Math.max(1, Math.ceil(this.target.timeoutMs - (performance.now() - this.startedAt)));
  }

  get isAborted(): boolean {
    return this.target.signal?.aborted === true;
  }

  get phases(): ConnectPhases {
    return { ...this.ended };
  }

  ends(phase: keyof ConnectPhases): void {
    this.ended[phase] = performance.now() - this.startedAt;
  }

  /** @throws {ConnectionFailedError} of this phase, when the work times out or is aborted */
  async within<T>(phase: ConnectFailure, maxMs: number, work: Promise<T>, late: string): Promise<T> {
    const { signal } = this.target;
    let timer: NodeJS.Timeout | undefined;
    let interrupt: (() => void) | undefined;
    const over = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new ConnectionFailedError(phase, late)), maxMs);
      interrupt = () => reject(new ConnectionFailedError(phase, "it was aborted"));
      if (signal?.aborted) interrupt();
      signal?.addEventListener("abort", interrupt);
    });
    try {
      return await Promise.race([work, over]);
    } finally {
      clearTimeout(timer);
      if (interrupt !== undefined) signal?.removeEventListener("abort", interrupt);
    }
  }
}

function opened(socket: Socket, place: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", (error: NodeJS.ErrnoException) =>
      reject(new ConnectionFailedError("connect", tcpProblem(place, error), error.code)),
    );
  });
}

function handshaken(socket: Socket, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("secureConnect", resolve);
    socket.once("error", (error: NodeJS.ErrnoException) => {
      reject(new ConnectionFailedError("tls", `${host}: ${tlsProblem(host, error)}`, error.code));
    });
  });
}

/** The peer of every opened socket must be the address that was checked. */
function checkPeer(socket: Socket, address: string): void {
  const peer = socket.remoteAddress;
  if (peer === undefined) throw new ConnectionFailedError("connect", `${address} ended the connection at once`);
  if (canonicalAddress(peer) === canonicalAddress(address)) return;
  throw new ConnectionFailedError("blocked_address", `the connection to ${address} went to ${peer} instead`);
}

function errorOf({ failure, message, code }: Extract<Connected, { readonly socket: null }>): ConnectionFailedError {
  return new ConnectionFailedError(failure, message, code);
}

/** Ends a socket without listeners. */
function discard(socket: Socket): void {
  socket.on("error", () => undefined);
  socket.destroy();
}
