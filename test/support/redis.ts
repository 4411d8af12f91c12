import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort, installPackage } from "./services.js";

const PROGRAM = "redis-server";

/** A Redis of one suite, in memory alone: it has forgotten everything when it starts again. */
export interface PrivateRedis {
  readonly host: string;
  readonly port: number;
  /** `redis://HOST:PORT` */
  readonly url: string;
  /** Resolves when it accepts connections. */
  start(): Promise<void>;
  /** kill -9 */
  kill(): Promise<void>;
  /** Kills it and deletes its folder. */
  remove(): Promise<void>;
}

/**
 * @param settings as on its command line: `["--maxmemory", "64mb"]`
 * @returns a running one
 * @throws {Error} saying how to install it, when it is missing and cannot be
 */
export async function startPrivateRedis(settings: readonly string[] = []): Promise<PrivateRedis> {
  await install();
  const [host, port] = ["127.0.0.1", await freePort()];
  const home = await mkdtemp(join(tmpdir(), "fermata-redis-"));
  const inMemory = ["--save", "", "--appendonly", "no", "--dir", home];
  let child: ChildProcess | null = null;
  const end = (): void => void child?.kill("SIGKILL");
  process.once("exit", end);
  const kill = async (): Promise<void> => {
    if (child === null) return;
    const closed = once(child, "close");
    end();
    child = null;
    await closed;
  };
  const start = async (): Promise<void> => {
    const args = ["--bind", host, "--port", String(port), ...inMemory, ...settings];
    const started = spawn(PROGRAM, args, { stdio: ["ignore", "pipe", "inherit"] });
    child = started;
    const lines: string[] = [];
    for await (const line of createInterface({ input: started.stdout })) {
      lines.push(line);
      if (!line.includes("Ready to accept connections")) continue;
      started.stdout.resume();
      return;
    }
    throw new Error(`Redis did not start:\n${lines.join("\n")}`);
  };
  await start();
  return {
    host,
    port,
    url: `redis://${host}:${port}`,
    start,
    kill,
    async remove() {
      process.removeListener("exit", end);
      await kill();
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function install(): Promise<void> {
  if (spawnSync(PROGRAM, ["--version"]).status === 0) return;
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) return installPackage(PROGRAM);
  throw new Error("The program redis-server is missing. Install Redis, such as Debian's package redis-server.");
}
