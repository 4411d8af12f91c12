import http from "node:http";
import { duplexPair, Readable } from "node:stream";

/** As `fetch`, of the app: the host of an address counts for nothing. */
export type InProcessFetch = typeof globalThis.fetch;

/**
 * Calls of an app without a network: a server that listens nowhere, and a connection in memory for each call. A call
 * is checked, limited and logged like any other.
 */
export class InProcessCalls {
  private readonly server: http.Server;

  constructor(app: http.RequestListener) {
    this.server = http.createServer(app);
  }

  /** @param address whom failed authentications of these calls are counted for */
  from(address: string | undefined): InProcessFetch {
    return async (input, init) => {
      const call = new Request(input, init);
      const { pathname, search } = new URL(call.url);
      const body = Buffer.from(await call.arrayBuffer());
      return new Promise((resolve, reject) => {
        const [near, far] = duplexPair();
        Object.defineProperty(far, "remoteAddress", { value: address });
        const request = http.request({
          createConnection: () => near,
          host: "localhost",
          path: `${pathname}${search}`,
          method: call.method,
          headers: { ...Object.fromEntries(call.headers), connection: "close" },
          signal: call.signal,
        });
        request.once("response", (response) => resolve(toResponse(response)));
        // A response that is cut off later fails its own stream.
        request.on("error", reject);
        near.once("close", () => far.destroy());
        far.once("close", () => near.destroy());
        this.server.emit("connection", far);
        if (body.length > 0) request.write(body);
        request.end();
      });
    };
  }
}

/** Statuses that `Response` takes no body with. */
const WITHOUT_BODY = [204, 205, 304];

function toResponse(incoming: http.IncomingMessage): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const one of Array.isArray(value) ? value : [value ?? ""]) headers.append(name, one);
  }
  const status = incoming.statusCode ?? 500;
  if (WITHOUT_BODY.includes(status)) {
    incoming.resume();
    return new Response(null, { status, headers });
  }
  return new Response(Readable.toWeb(incoming) as ReadableStream<Uint8Array>, { status, headers });
}
