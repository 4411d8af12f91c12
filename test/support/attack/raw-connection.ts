import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** How a hostile client connects. */
export interface RawOptions {
  /** Whether it reads at all; otherwise the server's output fills the buffers between the two. */
  readonly reads: boolean;
  /** An address of the loopback network, which stands for another network. */
  readonly from?: string;
}

/** A connection that sends the given bytes, and never ends its side by itself. */
export class RawConnection {
  private readonly chunks: Buffer[] = [];
  /** Resolves when the server has closed the connection. A connection that does not read does not notice it. */
  readonly closed: Promise<void>;

  private constructor(private readonly socket: Socket) {
    // A reset, or an end during sending: the server has closed it.
    socket.on("error", () => undefined);
    this.closed = new Promise((resolve) => {
      socket.once("close", () => resolve());
      socket.once("end", () => resolve());
    });
  }

  /** @throws {Error} the connection is refused */
  static async open(url: string, { reads, from }: RawOptions): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const localAddress = from === undefined ? {} : { localAddress: from };
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, ...localAddress });
    const connection = new RawConnection(socket);
    if (reads) connection.read();
    else socket.pause();
    await once(socket, "connect");
    return connection;
  }

  send(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }

  /** Starts to read. */
  read(): void {
    this.socket.on("data", (chunk: Buffer) => this.chunks.push(chunk));
    this.socket.resume();
  }

  /** The bytes read so far, a character for each byte. */
  get text(): string {
    return Buffer.concat(this.chunks).toString("latin1");
  }

  /** The statuses of the responses read so far. */
  get statuses(): number[] {
    return [...this.text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  }

  destroy(): void {
    this.socket.destroy();
  }
}

/** Opens connections, a few hundred at a time. */
export async function openMany(url: string, count: number, options: RawOptions): Promise<RawConnection[]> {
  const opened: RawConnection[] = [];
  while (opened.length < count) {
    const batch = Math.min(200, count - opened.length);
    opened.push(...(await Promise.all(Array.from({ length: batch }, () => RawConnection.open(url, options)))));
  }
  return opened;
}
