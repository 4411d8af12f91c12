import { connect, type Socket } from "node:net";
import { percentile } from "./figures.js";

export interface LoadOptions {
  readonly connections: number;
  readonly seconds: number;
  /** The whole request, head and body; each connection sends the next one when the last response has arrived. */
  readonly request: () => string;
  /** The status that every response must have. */
  readonly status: number;
}

export interface LoadResult {
  readonly count: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/**
 * Sends requests over keep-alive connections for some seconds. It does as little as possible for each, so that on a
 * machine of few cores the server is what is measured.
 */
export async function load(url: string, options: LoadOptions): Promise<LoadResult> {
  const { hostname, port } = new URL(url);
  const latencies: number[] = [];
  const begunAt = performance.now();
  const endsAt = begunAt + options.seconds * 1000;
  const runs = Array.from({ length: options.connections }, () => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    return runConnection(socket, options, endsAt, latencies);
  });
  await Promise.all(runs);
  const seconds = (performance.now() - begunAt) / 1000;
  return {
    count: latencies.length,
    perSecond: latencies.length / seconds,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

function runConnection(
  socket: Socket,
  { request, status }: LoadOptions,
  endsAt: number,
  latencies: number[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const expected = `HTTP/1.1 ${status} `;
    let received = "";
    let sentAt = 0;
    const send = (): void => {
      sentAt = performance.now();
      socket.write(request(), "latin1");
    };
    socket.on("connect", send);
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString("latin1");
      if (!isWhole(received)) return;
      const now = performance.now();
      if (!received.startsWith(expected)) return void socket.destroy(new Error(`Expected ${status}, got: ${received}`));
      latencies.push(now - sentAt);
      received = "";
      if (now >= endsAt) socket.end();
      else send();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve());
  });
}

/** One response at a time per connection, so that a complete one ends where the text ends. */
function isWhole(text: string): boolean {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return false;
  const [, length = "0"] = /\r\ncontent-length: (\d+)/i.exec(text) ?? [];
  return text.length >= headEnd + 4 + Number(length);
}

/** A request as it goes over the wire. */
export function rawRequest(method: string, path: string, headers: Readonly<Record<string, string>>, body = ""): string {
  const lines = Object.entries({ Host: "bench", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === "" ? "" : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}${length}\r\n${body}`;
}
