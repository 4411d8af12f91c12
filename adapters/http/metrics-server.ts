import { createServer, type RequestListener, type Server } from "node:http";
import { isStopped, stopReading } from "./connections/close.js";
import type { MetricsPage } from "./deps.js";
import { listen } from "./listen.js";

/** Who reads figures is one or two Prometheus servers, each every few seconds. */
const CONNECTIONS_MAX = 64;
const TIMEOUT_MS = 10_000;
/** The processes of one machine share these, from `metrics.port` on: each takes the first free one. */
const PORTS = 20;
const PORT_MAX = 65_535;

/** `GET /metrics` at a port of its own, so that figures need not be public. */
export class MetricsServer {
  private constructor(
    private readonly server: Server,
    /** What it listens on, such as `http://127.0.0.1:9080`. */
    readonly url: string,
    /** The ports that other processes had already. */
    readonly taken: readonly number[],
  ) {}

  /**
   * @param port the first port to try: while it is in use, the next ones are; 0 takes any free one
   * @throws {Error} naming the address and why it cannot be bound
   */
  static async open(page: MetricsPage, host: string, port: number): Promise<MetricsServer> {
    const options = { requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS, connectionsCheckingInterval: 1_000 };
    const server = createServer(options, responder(page));
    server.maxConnections = CONNECTIONS_MAX;
    // One response for each connection: requests that are pipelined behind it are dropped.
    server.maxRequestsPerSocket = 1;
    server.on("dropRequest", (_request, socket) => stopReading(socket));
    server.on("clientError", (error, socket) => (isStopped(error) ? undefined : socket.destroy()));
    // Neither a client that reads nothing nor one that keeps its side open holds a connection for longer.
    server.setTimeout(TIMEOUT_MS, (socket) => socket.destroy());
    const last = port === 0 ? 0 : Math.min(port + PORTS - 1, PORT_MAX);
    for (let at = port; ; at++) {
      try {
        const { url } = await listen(server, {
          host,
          port: at,
          settings: "metrics.host, metrics.port",
          // Each process has figures of its own, also among those of `http.processes`.
          exclusive: true,
        });
        return new MetricsServer(server, url, range(port, at));
      } catch (error) {
        if (at === last || !isInUse(error)) throw error;
      }
    }
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
    });
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

function isInUse(error: unknown): boolean {
  return error instanceof Error && (error.cause as NodeJS.ErrnoException | undefined)?.code === "EADDRINUSE";
}

function responder(page: MetricsPage): RequestListener {
  return (request, response) => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (request.url !== "/metrics" || !isRead) {
      response.writeHead(404).end();
      return;
    }
    page.text().then(
      (text) => response.writeHead(200, { "Content-Type": page.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  };
}
