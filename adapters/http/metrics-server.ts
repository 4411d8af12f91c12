import { createServer, type RequestListener, type Server } from "node:http";
import { isStopped, stopReading } from "./connections/close.js";
import type { MetricsPage } from "./deps.js";
import { listen } from "./server.js";

/** Who reads figures is one or two Prometheus servers, each every few seconds. */
const CONNECTIONS_MAX = 64;
const TIMEOUT_MS = 10_000;

/** `GET /metrics` at a port of its own, so that figures need not be public. */
export class MetricsServer {
  private constructor(
    private readonly server: Server,
    /** What it listens on, such as `http://127.0.0.1:9080`. */
    readonly url: string,
  ) {}

  /** @throws {Error} naming the address and why it cannot be bound */
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
    const { url } = await listen(server, { host, port, settings: "metrics.host, metrics.port" });
    return new MetricsServer(server, url);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
    });
  }
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
