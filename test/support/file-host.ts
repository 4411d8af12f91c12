import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";

/** Responds to a request of {@link FileHost}. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * In place of a provider's file server, on this machine: a scripted response for each path; the query is ignored.
 *
 * @example
 * const host = await FileHost.open();
 * const url = host.on("/song.mp3", serving(tinyMp3()));
 * assert.equal((await fetch(url)).status, 200);
 * await host.close();
 */
export class FileHost {
  /** In order of arrival. */
  readonly requests: IncomingMessage[] = [];
  private readonly handlers = new Map<string, Handler[]>();
  private readonly sockets = new Set<Socket>();
  private readonly changed = new EventEmitter();
  private readonly server: Server;

  private constructor(private readonly tls: { readonly key: string; readonly cert: string } | null) {
    const result = (request: IncomingMessage, response: ServerResponse): void => this.response(request, response);
    this.server = tls === null ? createServer(result) : createHttpsServer(tls, result);
    this.server.on(tls === null ? "connection" : "secureConnection", (socket: Socket) => {
      this.sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        this.sockets.delete(socket);
        this.changed.emit("closed");
      });
    });
  }

  /** @param tls key and certificate, for https */
  static async open(tls: { readonly key: string; readonly cert: string } | null = null): Promise<FileHost> {
    const host = new FileHost(tls);
    host.server.listen(0, "127.0.0.1");
    await once(host.server, "listening");
    return host;
  }

  /** `http://127.0.0.1:PORT/path`; `localhost` is another origin of the same server. */
  url(path: string, hostname = this.tls === null ? "127.0.0.1" : "localhost"): string {
    const { port } = this.server.address() as AddressInfo;
    return `${this.tls === null ? "http" : "https"}://${hostname}:${port}${path}`;
  }

  /** Handles requests in turn; the last handler stays. @returns the URL */
  on(path: string, ...handlers: readonly Handler[]): string {
    this.handlers.set(path, [...handlers]);
    return this.url(path);
  }

  /** Requests for a path. */
  of(path: string): readonly IncomingMessage[] {
    return this.requests.filter(({ url = "" }) => url.split("?")[0] === path);
  }

  /** Resolves when no connection is open. */
  async quiet(): Promise<void> {
    while (this.sockets.size > 0) await once(this.changed, "closed");
  }

  async close(): Promise<void> {
    const closed = once(this.server, "close");
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private response(request: IncomingMessage, response: ServerResponse): void {
    this.requests.push(request);
    const handlers = this.handlers.get((request.url ?? "").split("?")[0] ?? "");
    const handler = handlers !== undefined && handlers.length > 1 ? handlers.shift() : handlers?.[0];
    if (handler === undefined) response.writeHead(404).end();
    else handler(request, response);
  }
}

/**
 * A response with this status, these headers and this body.
 *
 * @example
 * const host = await FileHost.open();
 * host.on("/song.mp3", responding(410), responding(200, { "content-type": "audio/mpeg" }, tinyMp3()));
 */
export function responding(
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body: Uint8Array | string = "",
): Handler {
  return (_request, response) => void response.writeHead(status, headers).end(body);
}

/**
 * The whole file, or the requested range, as file servers do it.
 *
 * @example
 * const host = await FileHost.open();
 * host.on("/song.mp3", serving(tinyMp3(), { "Accept-Ranges": "bytes" }));
 */
export function serving(file: Uint8Array, headers: Readonly<Record<string, string>> = {}): Handler {
  return cutting(file, [], headers);
}

/**
 * As {@link serving}, but the connection ends after each of these positions of the file.
 *
 * @example
 * const host = await FileHost.open();
 * host.on("/song.mp3", cutting(tinyMp3(), [10, 200], { "Accept-Ranges": "bytes", ETag: '"1"' }));
 */
export function cutting(
  file: Uint8Array,
  cuts: readonly number[],
  headers: Readonly<Record<string, string>> = {},
): Handler {
  const left = [...cuts];
  return (request, response) => {
    const [, from] = /^bytes=(\d+)-$/.exec(request.headers.range ?? "") ?? [];
    const hasChanged =
      request.headers["if-range"] !== undefined &&
      ![headers["ETag"], headers["Last-Modified"]].includes(request.headers["if-range"] as string);
    const start = hasChanged || headers["Accept-Ranges"] === undefined ? 0 : Number(from ?? 0);
    const part = { "Content-Range": `bytes ${start}-${file.length - 1}/${file.length}` };
    response.writeHead(start > 0 ? 206 : 200, {
      "Content-Length": String(file.length - start),
      ...headers,
      ...(start > 0 ? part : {}),
    });
    const cut = left.shift();
    if (cut === undefined) response.end(file.subarray(start));
    else response.write(file.subarray(start, cut), () => response.socket?.end());
  };
}
