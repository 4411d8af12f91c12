import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";

/** A relay to a server that a test can break. */
export interface Relay {
  /** Host and port. */
  readonly address: string;
  /** How many connections it has accepted. */
  readonly connections: number;
  /** How many bytes of replies it has forwarded. */
  readonly repliedBytes: number;
  /** Closes every open connection. */
  cut(): void;
  /** Refuses connections, and closes open ones. */
  shut(): Promise<void>;
  reopen(): Promise<void>;
  /**
   * Forwards nothing, but keeps the connections: a server that hangs. With a way named it still forwards the other:
   * `requests` alone are stopped, or `replies`.
   */
  freeze(way?: Way): void;
  thaw(): void;
  /** Forwards nothing on open connections, and keeps them: a network that dropped their state. New ones work. */
  strand(): void;
  /** Resets each open connection at its next use. New ones work. */
  expire(): void;
  close(): Promise<void>;
}

/** What a client sends, or what the server does. */
export type Way = "requests" | "replies";

/**
 * How bytes to the server are treated. `lose`: the connection ends before they arrive. `lose-reply`: they arrive, and
 * the connection ends when the server has replied; nothing of that is forwarded.
 */
export type Fate = "pass" | "lose" | "lose-reply";

export interface RelayOptions {
  /** Key and certificate, for an encrypted relay. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /**
   * Called for everything that a client sends, with the number of its connection, from 1 on; without it everything is
   * forwarded.
   */
  readonly fateOf?: (bytes: Buffer, connection: number) => Fate;
  /** Whether a reply, as far as it has come, is all of it; without it each is, once something came. */
  readonly isWhole?: (reply: Buffer) => boolean;
  /**
   * After so many bytes of replies a connection ends, in the middle of whatever it is; called with its number when it
   * opens. Without it no connection is limited.
   */
  readonly replyLimitOf?: (connection: number) => number;
}

export async function openRelayTo(
  target: { readonly host: string; readonly port: number },
  { tls, fateOf = () => "pass", isWhole = () => true, replyLimitOf = () => Infinity }: RelayOptions = {},
): Promise<Relay> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const expired = new WeakSet<Socket>();
  const orphans = new Set<Socket>();
  let connections = 0;
  let repliedBytes = 0;
  let frozen: "nothing" | "everything" | Way = "nothing";
  /** Of a pair: where what a client sends is read, and where what the server sends is. */
  const frozenOf = ([near, far]: readonly [Socket, Socket]): readonly Socket[] =>
    ({ nothing: [], everything: [near, far], requests: [near], replies: [far] })[frozen];
  const pass = (near: Socket): void => {
    connections += 1;
    const connection = connections;
    const far = connect(target.port, target.host);
    const pair = [near, far] as const;
    let lostReply: Buffer | null = null;
    let left = replyLimitOf(connection);
    pairs.add(pair);
    near.on("data", (bytes: Buffer) => {
      const fate = expired.has(near) ? "lose" : fateOf(bytes, connection);
      if (fate === "lose-reply") lostReply ??= Buffer.alloc(0);
      if (fate === "lose") near.destroy();
      else far.write(bytes);
    });
    far.on("data", (bytes: Buffer) => {
      if (lostReply !== null) {
        lostReply = Buffer.concat([lostReply, bytes]);
        if (isWhole(lostReply)) near.destroy();
        return;
      }
      if (bytes.length < left) near.write(bytes);
      else near.end(bytes.subarray(0, left), () => far.destroy());
      repliedBytes += Math.min(left, bytes.length);
      left = Math.max(0, left - bytes.length);
    });
    for (const [from, to] of [pair, [far, near] as const]) {
      from.on("error", () => undefined);
      from.on("end", () => to.end());
      from.on("close", () => {
        // Where nothing is passed on, the other end does not learn of it either, until the relay thaws.
        if (frozen === "nothing") to.destroy();
        else orphans.add(to);
        pairs.delete(pair);
      });
    }
    for (const socket of frozenOf(pair)) socket.pause();
  };
  const server: Server = tls === undefined ? createServer(pass) : createTlsServer(tls, pass);
  const listen = (port: number): Promise<void> => new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const dropOrphans = (): void => {
    for (const socket of orphans) socket.destroy();
    orphans.clear();
  };
  const cut = (): void => {
    for (const [near] of pairs) near.destroy();
    dropOrphans();
  };
  const shut = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    cut();
    await closed;
  };
  return {
    address: `127.0.0.1:${port}`,
    get connections() {
      return connections;
    },
    get repliedBytes() {
      return repliedBytes;
    },
    cut,
    shut,
    reopen: () => listen(port),
    freeze(way) {
      frozen = way ?? "everything";
      for (const socket of [...pairs].flatMap(frozenOf)) socket.pause();
    },
    thaw() {
      frozen = "nothing";
      dropOrphans();
      for (const socket of [...pairs].flat()) socket.resume();
    },
    strand() {
      for (const socket of [...pairs].flat()) socket.pause();
    },
    expire() {
      for (const [near] of pairs) expired.add(near);
    },
    close: async () => {
      if (server.listening) await shut();
    },
  };
}
