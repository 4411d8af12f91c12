import { createClient } from "@redis/client";

/** How long Redis may take to respond. */
export const RESPONSE_MS = 2_000;

export type Client = ReturnType<typeof createUnopened>;

function createUnopened(url: string) {
  // The client's own reconnecting is off: a command that is sent again after an outage may hang, or come twice.
  const client = createClient({ url, socket: { connectTimeout: RESPONSE_MS, reconnectStrategy: false } });
  // Without a listener an error would end the process; every command under way is rejected with it as well.
  return client.on("error", () => undefined);
}

/**
 * One connection, opened when it is needed and given up at the first error: the next use opens another, which finds a
 * restarted server, or a new primary after a failover.
 */
export class Connection {
  private current: { readonly client: Client; readonly opened: Promise<Client> } | null = null;
  private isClosed = false;

  constructor(private readonly url: string) {}

  /**
   * Commands on the open connection. A blocking command has a connection of its own: it keeps all others waiting.
   *
   * @throws {Error} Redis is unavailable, refused a command, or did not respond within `ms`; or this is closed
   */
  async use<T>(work: (client: Client) => Promise<T>, ms = RESPONSE_MS): Promise<T> {
    if (this.isClosed) throw new Error("The connection to Redis is closed.");
    const current = (this.current ??= this.open());
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`Redis did not respond within ${ms} ms.`)), ms);
    });
    try {
      return await Promise.race([current.opened.then(work), late]);
    } catch (error) {
      if (this.current === current) this.current = null;
      current.client.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Commands under way are rejected. */
  close(): void {
    this.isClosed = true;
    this.current?.client.destroy();
  }

  private open(): { readonly client: Client; readonly opened: Promise<Client> } {
    const client = createUnopened(this.url);
    return { client, opened: client.connect() };
  }
}
