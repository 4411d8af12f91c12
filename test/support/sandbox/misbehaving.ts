/** A sandboxed module with scripted faults. */
import dgram from "node:dgram";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface Misdeed {
  readonly kind: "report" | "echo" | "connect" | "fill" | "spin" | "work" | "exit" | "throw" | "hang";
  readonly port?: number;
  readonly bytes?: Uint8Array;
}

/** CPU time that `work` takes. */
export const WORK_MS = 500;

const kept: Uint8Array[] = [];

export async function handle({ kind, port = 0, bytes }: Misdeed): Promise<object> {
  switch (kind) {
    case "report":
      return { pid: process.pid, env: Object.keys(process.env), execArgv: process.execArgv };
    case "echo":
      return { echoed: bytes };
    case "connect":
      return { problems: await Promise.all(WAYS.map((way) => problemOf(() => way(port)))) };
    case "fill":
      // Memory outside of the JavaScript heap, touched so that it is resident.
      for (;;) kept.push(new Uint8Array(1 << 24).fill(1));
    case "spin":
      for (;;);
    case "work":
      for (const from = process.cpuUsage(); cpuMsSince(from) < WORK_MS;);
      return { pid: process.pid };
    case "exit":
      return process.exit(3);
    case "throw":
      throw new Error("a decoder broke");
    case "hang":
      await sleep(2 ** 30);
      return {};
  }
}

function cpuMsSince(from: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1_000;
}

const connected = (socket: net.Socket): Promise<unknown> =>
  new Promise((resolve, reject) => void socket.once("connect", resolve).once("error", reject));

const WAYS: readonly ((port: number) => unknown)[] = [
  (port) => connected(net.connect(port, "127.0.0.1")),
  (port) => connected(new net.Socket().connect(port, "127.0.0.1")),
  async (port) => (await import("node:tls")).connect(port, "127.0.0.1"),
  async (port) => (await import("node:http")).get({ port }).on("error", () => undefined),
  (port) => fetch(`http://127.0.0.1:${port}`),
  (port) => net.createServer().listen(port),
  () => dgram.createSocket("udp4"),
];

async function problemOf(way: () => unknown): Promise<string | null> {
  try {
    await way();
    return null;
  } catch (error) {
    return String(error instanceof Error && error.cause !== undefined ? error.cause : error);
  }
}
