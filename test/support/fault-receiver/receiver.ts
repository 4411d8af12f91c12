import { EventEmitter, once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { createSecureContext, createServer as createTlsServer } from "node:tls";
import { type Certificate, CertificateAuthority, selfSigned } from "./certificates.js";
import { FAULTS, faultOf } from "./faults.js";

const DAY_MS = 86_400_000;

/** Certificates by the host name of the request: `expired` for `https://expired.localhost`. */
export const CERTIFICATES = ["valid", "expired", "wrong-name", "self-signed", "untrusted"] as const;
/** A certificate of {@link FaultReceiver}. */
export type CertificateKind = (typeof CERTIFICATES)[number];

/** Its servers: correct TLS, no TLS, bytes that are not TLS, silence, and TLS 1.1 at most. Each has its own port. */
export const SERVERS = ["https", "http", "garbage", "mute", "old-tls"] as const;
/** A server of {@link FaultReceiver}. */
export type ServerKind = (typeof SERVERS)[number];

/** How a {@link FaultReceiver} is opened. */
export interface FaultReceiverOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** The port of `https`; the other servers get the next ones. Default 0: free ones. */
  readonly port?: number;
  /** A fault for every path, by its name in {@link FAULTS}. */
  readonly fault?: string;
  /** The certificate for every name except those of {@link CERTIFICATES}. Default `valid`. */
  readonly certificate?: CertificateKind;
  /** Names that the valid certificate is for, besides localhost and hooks.localhost. */
  readonly names?: readonly string[];
  /** `whsec_…`; with it the public library `standardwebhooks` verifies every request. */
  readonly secret?: string;
}

/** A request as it arrived. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Whether the signature is valid; null without a secret. */
  readonly isVerified: boolean | null;
}

/** The oldest requests above this number are dropped. */
const REQUESTS_MAX = 1_000;

type Verify = (request: Pick<ReceivedRequest, "headers" | "body">) => boolean | null;

/**
 * In place of a receiver of webhooks, with real servers on this machine: the first part of the path names the fault,
 * the host name the certificate. It can be run against any sender. With a `secret` it needs the package
 * `standardwebhooks`.
 *
 * @example
 * const receiver = await FaultReceiver.open();
 * await fetch(receiver.url("/status/503", { server: "http" }), { method: "POST", body: "{}" });
 * const [request] = await receiver.received();
 * assert.equal(request?.path, "/status/503");
 * await receiver.close();
 */
export class FaultReceiver {
  readonly requests: ReceivedRequest[] = [];
  /** How many TCP connections each server has accepted. */
  readonly connections: Record<ServerKind, number> = { https: 0, http: 0, garbage: 0, mute: 0, "old-tls": 0 };
  private readonly authority = new CertificateAuthority();
  private readonly servers = new Map<ServerKind, Server>();
  private readonly sockets = new Set<Socket>();
  /** The connections of requests to `/stale`. */
  private readonly doomed = new WeakSet<Socket>();
  private readonly changed = new EventEmitter();

  private constructor(
    private readonly options: FaultReceiverOptions,
    private readonly verify: Verify,
  ) {}

  /** @throws {Error} the fault is unknown, or a port is in use */
  static async open(options: FaultReceiverOptions = {}): Promise<FaultReceiver> {
    const { fault, port = 0, host = "127.0.0.1" } = options;
    if (fault !== undefined && FAULTS[fault] === undefined)
      throw new Error(`There is no fault ${fault}. There are: ${Object.keys(FAULTS).join(", ")}.`);
    const receiver = new FaultReceiver(options, await verifierFor(options.secret));
    receiver.build();
    for (const [index, [kind, server]] of [...receiver.servers].entries()) {
      server.on("connection", (socket: Socket) => receiver.accept(kind, socket));
      server.listen(port === 0 ? 0 : port + index, host);
      await once(server, "listening");
    }
    return receiver;
  }

  /** The certificate of its authority, to be trusted by the sender. */
  get ca(): string {
    return this.authority.cert;
  }

  portOf(server: ServerKind): number {
    return (this.servers.get(server)?.address() as AddressInfo).port;
  }

  /**
   * The URL to send to: `url("/ok")`, `url("/ok", { host: "expired.localhost" })`, `url("/ok", { server: "http" })`.
   */
  url(
    path: string,
    { host = "localhost", server = "https" }: { readonly host?: string; readonly server?: ServerKind } = {},
  ): string {
    return `${server === "http" ? "http" : "https"}://${host}:${this.portOf(server)}${path}`;
  }

  /** Resolves when there were `count` requests. */
  async received(count = 1): Promise<readonly ReceivedRequest[]> {
    while (this.requests.length < count) await once(this.changed, "request");
    return this.requests;
  }

  /** Resolves when no connection is open. */
  async quiet(): Promise<void> {
    while (this.sockets.size > 0) await once(this.changed, "closed");
  }

  /** Calls the listener for every request. */
  onRequest(listener: (request: ReceivedRequest) => void): void {
    this.changed.on("request", listener);
  }

  /** Closes every connection. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** The same, and stops listening. */
  async close(): Promise<void> {
    const closed = [...this.servers.values()].map((server) => new Promise((resolve) => server.close(resolve)));
    this.cut();
    await Promise.all(closed);
  }

  private build(): void {
    const result = (request: IncomingMessage, response: ServerResponse): void => void this.response(request, response);
    const certificates = this.certificates();
    const contexts = new Map(CERTIFICATES.map((kind) => [kind as string, createSecureContext(certificates[kind])]));
    const usual = certificates[this.options.certificate ?? "valid"];
    const others = createSecureContext(usual);
    const https = createHttpsServer(
      { ...usual, SNICallback: (name, done) => done(null, contexts.get(name.split(".")[0] as string) ?? others) },
      result,
    );
    this.servers.set("https", https);
    this.servers.set("http", createHttpServer(result));
    this.servers.set(
      "garbage",
      createTcpServer((socket) => socket.end("this is no TLS\r\n")),
    );
    this.servers.set(
      "mute",
      createTcpServer((socket) => void socket.resume()),
    );
    this.servers.set(
      "old-tls",
      createTlsServer({ ...usual, minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" }),
    );
    for (const server of this.servers.values()) server.on("tlsClientError", () => undefined);
  }

  private certificates(): Readonly<Record<CertificateKind, Certificate>> {
    const { authority } = this;
    const past = Date.now() - DAY_MS;
    return {
      valid: authority.issue({
        names: ["localhost", "hooks.localhost", "127.0.0.1", "::1", ...(this.options.names ?? [])],
      }),
      expired: authority.issue({
        names: ["expired.localhost"],
        validFrom: new Date(past - 10 * DAY_MS),
        validTo: new Date(past),
      }),
      "wrong-name": authority.issue({ names: ["other.example"] }),
      "self-signed": selfSigned({ names: ["self-signed.localhost"] }),
      untrusted: new CertificateAuthority("An untrusted authority").issue({ names: ["untrusted.localhost"] }),
    };
  }

  private accept(server: ServerKind, socket: Socket): void {
    this.connections[server] += 1;
    this.sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.sockets.delete(socket);
      this.changed.emit("closed");
    });
  }

  private async response(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    const tcp = [...this.sockets].find(({ remotePort }) => remotePort === socket.remotePort) ?? socket;
    if (this.doomed.has(socket)) return void tcp.resetAndDestroy();
    const body = await bodyOf(request);
    if (body === null) return;
    this.record(request, body);
    const url = new URL(request.url ?? "/", "https://receiver.invalid");
    const path = url.pathname.split("/").slice(1);
    if (path[0] === "stale") this.doomed.add(socket);
    const fault = this.options.fault === undefined ? faultOf(path) : faultOf([this.options.fault]);
    fault.response({ request, response, tcp, path, query: url.searchParams });
  }

  private record({ method = "", url: path = "", headers }: IncomingMessage, body: Buffer): void {
    if (this.requests.length >= REQUESTS_MAX) this.requests.shift();
    const received = { method, path, headers, body, at: Date.now(), isVerified: this.verify({ headers, body }) };
    this.requests.push(received);
    this.changed.emit("request", received);
  }
}

/** null when the sender disconnected. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return null;
  }
  return Buffer.concat(chunks);
}

/** The library is a development dependency: it is needed only with a secret. */
async function verifierFor(secret: string | undefined): Promise<Verify> {
  if (secret === undefined) return () => null;
  const { Webhook } = await import("standardwebhooks");
  const webhook = new Webhook(secret);
  return ({ headers, body }) => {
    try {
      webhook.verify(body, headers as Record<string, string>);
      return true;
    } catch {
      return false;
    }
  };
}
