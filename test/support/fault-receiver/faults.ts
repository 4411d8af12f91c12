import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";

/** A request that was read completely. */
export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The TCP connection, below TLS. */
  readonly tcp: Socket;
  /** The path in parts: `/status/503` is `["status", "503"]`. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export interface Fault {
  /** A description of the fault, for the list of `main.ts`. */
  readonly does: string;
  readonly response: (call: Call) => void;
}

const DRIP_MS = 50;
const BOMB_BYTES = 10_000_000;
const CHUNK = Buffer.alloc(16 * 1024, "endless ");

/** The faults by the first part of the path. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  ok: { does: "200 with a short body", response: ({ response }) => json(response, 200, { received: true }) },
  empty: { does: "204", response: ({ response }) => void response.writeHead(204).end() },
  status: {
    does: "the status in the path, with ?retry= as Retry-After: /status/503?retry=7, or short /503?retry=7",
    response: status,
  },
  redirect: { does: "302 to ?to=, or to /ok", response: redirect },
  gone: { does: "410", response: ({ response }) => json(response, 410, { gone: true }) },
  hang: { does: "never responds", response: () => undefined },
  "slow-headers": { does: "one byte of its headers at a time, without end", response: slowHeaders },
  drip: {
    does: "200, then one byte of its body at a time, every ?every= ms; ?status= for another status",
    response: drip,
  },
  endless: { does: "200 with a body that never ends, as fast as it is read", response: endless },
  large: { does: "200 with a body of ?bytes= bytes, 100,000 by default", response: large },
  bomb: { does: "200 with a small gzip body that unpacks to 10 MB", response: bomb },
  binary: { does: "200 with control characters and broken UTF-8", response: binary },
  reset: { does: "resets the connection in place of a response", response: ({ tcp }) => void tcp.resetAndDestroy() },
  close: { does: "ends the connection in place of a response", response: ({ request }) => void request.socket.end() },
  "half-close": { does: "200, a part of its body, then the end of the connection", response: halfClose },
  garbage: {
    does: "bytes that are no HTTP",
    response: ({ request }) => void request.socket.end("\0\x01 this is no HTTP\r\n\r\n"),
  },
  "many-headers": { does: "200 with 100 kB of headers", response: manyHeaders },
  interim: { does: "two interim responses (103) before a 200, or before ?then=hang", response: interim },
  stale: {
    does: "200, and resets the kept connection when the next request arrives on it",
    response: ({ response }) => json(response, 200, { received: true }),
  },
};

/** The fault of a path; an unknown path gets 200. */
export function faultOf(path: readonly string[]): Fault {
  const [first = ""] = path;
  const fault = /^\d{3}$/.test(first) ? FAULTS["status"] : FAULTS[first];
  return (fault ?? FAULTS["ok"]) as Fault;
}

function json(
  response: ServerResponse,
  code: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(code, { "Content-Type": "application/json", ...headers }).end(`${JSON.stringify(body)}\n`);
}

function status({ response, path, query }: Call): void {
  const code = Number(path.find((part) => /^\d{3}$/.test(part)) ?? 200);
  const retry = query.get("retry");
  json(response, code, { status: code }, retry === null ? {} : { "Retry-After": retry });
}

function redirect({ response, query }: Call): void {
  response.writeHead(302, { Location: query.get("to") ?? "/ok" }).end();
}

function slowHeaders({ request: { socket } }: Call): void {
  socket.write("HTTP/1.1 200 OK\r\nX-Slow: ");
  repeat(socket, DRIP_MS, () => socket.write("x"));
}

function drip({ request, response, query }: Call): void {
  response.writeHead(Number(query.get("status") ?? 200), { "Content-Length": "1000000" }).flushHeaders();
  repeat(request.socket, Number(query.get("every") ?? DRIP_MS), () => response.write("."));
}

function endless({ response }: Call): void {
  response.writeHead(200);
  const write = (): void => {
    while (response.writable && response.write(CHUNK));
  };
  response.on("drain", write);
  write();
}

function large({ response, query }: Call): void {
  response.writeHead(200).end(Buffer.alloc(Number(query.get("bytes") ?? 100_000), "x"));
}

function bomb({ response }: Call): void {
  response.writeHead(200, { "Content-Encoding": "gzip" }).end(gzipSync(Buffer.alloc(BOMB_BYTES)));
}

function binary({ response }: Call): void {
  response.writeHead(200, { "Content-Type": "text/plain" });
  response.end(
    Buffer.concat([
      Buffer.from("one\r\ntwo\t\x1b[31mred\x07\0"),
      Buffer.from([0xff, 0xfe, 0xc3]),
      Buffer.from("\u202eend"),
    ]),
  );
}

function halfClose({ request: { socket } }: Call): void {
  socket.end("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this");
}

function manyHeaders({ request: { socket } }: Call): void {
  const headers = Array.from({ length: 100 }, (_, index) => `X-Header-${index}: ${"x".repeat(1_000)}\r\n`);
  socket.write(`HTTP/1.1 200 OK\r\n${headers.join("")}Content-Length: 0\r\n\r\n`);
}

function interim({ request: { socket }, response, query }: Call): void {
  socket.write("HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n".repeat(2));
  if (query.get("then") !== "hang") json(response, 200, { received: true });
}

/** Until the connection ends. */
function repeat(socket: Socket, everyMs: number, work: () => void): void {
  const timer = setInterval(work, everyMs);
  socket.on("close", () => clearInterval(timer));
  socket.on("error", () => undefined);
}
