import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** Takes every delivery, and keeps the ids of the events. */
export class Receiver {
  readonly events = new Set<string>();

  private constructor(private readonly server: Server) {
    server.on("request", (request, response) => {
      this.events.add(String(request.headers["webhook-id"]));
      request.resume().once("end", () => response.writeHead(204).end());
    });
  }

  static async open(): Promise<Receiver> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Receiver(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/events`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
