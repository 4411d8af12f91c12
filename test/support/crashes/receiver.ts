import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A delivery attempt that arrived. */
export interface ReceivedDelivery {
  readonly path: string;
  readonly eventId: string;
  readonly body: string;
  /** The status of the response. */
  readonly status: number;
}

const TAKEN = 204;

/** Takes every delivery, unless it is scripted otherwise, and keeps them all. */
export class Receiver {
  readonly received: ReceivedDelivery[] = [];
  /** The status of the next response. */
  respond: () => number = () => TAKEN;

  private constructor(private readonly server: Server) {
    server.on("request", (request, response) => {
      const eventId = String(request.headers["webhook-id"]);
      text(request).then(
        (body) => {
          const status = this.respond();
          this.received.push({ path: request.url ?? "/", eventId, body, status });
          response.writeHead(status).end();
        },
        // The sender disconnected before the end of its request.
        () => response.destroy(),
      );
    });
  }

  static async open(): Promise<Receiver> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Receiver(server);
  }

  /** The ids of the events that it took. */
  get events(): ReadonlySet<string> {
    return new Set(this.received.filter(({ status }) => status < 300).map(({ eventId }) => eventId));
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/events`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
