import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

/** A server that must not be reached: it counts connections of any protocol. */
export class Canary {
  connections = 0;
  private constructor(private readonly server: Server) {}

  static async open(): Promise<Canary> {
    const server = createServer();
    const canary = new Canary(server);
    server.on("connection", (socket: Socket) => {
      canary.connections += 1;
      socket.destroy();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return canary;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const closed = once(this.server, "close");
    this.server.close();
    await closed;
  }
}
