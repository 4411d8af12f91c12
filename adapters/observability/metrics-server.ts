import { createServer, type Server } from "node:http";
import type { PrometheusMetrics } from "./metrics.js";

/** `GET /metrics` on a port of its own, so that figures need not be public. */
export class MetricsServer {
  private constructor(private readonly server: Server) {}

  /** @throws {Error} the address cannot be listened on */
  static async open(metrics: PrometheusMetrics, host: string, port: number): Promise<MetricsServer> {
    const server = createServer((request, response) => {
      if (request.url !== "/metrics" || request.method !== "GET") {
        response.writeHead(404).end();
        return;
      }
      metrics.text().then(
        (text) => response.writeHead(200, { "Content-Type": metrics.contentType }).end(text),
        () => response.writeHead(500).end(),
      );
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
    return new MetricsServer(server);
  }

  /** What it listens on, such as `http://127.0.0.1:9464`. */
  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === "string") throw new Error("The metrics server does not listen.");
    const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
    return `http://${host}:${address.port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
    });
  }
}
