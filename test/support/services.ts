import { execFile } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Installs one of Debian's packages; for root. */
export async function installPackage(name: string): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await run("apt-get", ["update"], { env });
  await run("apt-get", ["install", "--yes", "--no-install-recommends", name], { env });
}

/** The Debian packages whose programs the tests start, each with a file that it contains. */
const PACKAGES: Readonly<Record<string, string>> = {
  "mariadb-server": "/usr/sbin/mariadbd",
  "rabbitmq-server": "/usr/lib/rabbitmq/bin/rabbitmq-server",
  chromium: "/usr/bin/chromium",
  "python3-swift": "/usr/lib/python3/dist-packages/swift",
  "redis-server": "/usr/bin/redis-server",
};

/**
 * Once, before several processes would each install the same. Where this process cannot install, the test that needs
 * the package says so.
 */
export async function installMissingPackages(): Promise<void> {
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return;
  for (const [name, file] of Object.entries(PACKAGES)) if (!existsSync(file)) await installPackage(name);
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** A name for a database or a virtual host of one test run: it holds the time of its creation. */
export function uniqueName(): string {
  return `fermata_test_${Date.now().toString(36)}_${process.pid}_${randomBytes(4).toString("hex")}`;
}

/**
 * Whether a test run that ended without cleaning up created a database or virtual host of this name: no run takes a
 * day.
 */
export function isLeftover(name: string): boolean {
  const [, createdAt] = /^fermata_test_([0-9a-z]{8,9})_\d+_[0-9a-f]{8}$/.exec(name) ?? [];
  return createdAt !== undefined && Date.now() - parseInt(createdAt, 36) > DAY_MS;
}

/** Below the ports that systems give to clients: one of those might be in use again before a server listens on it. */
const [PORT_MIN, PORT_MAX] = [15_000, 30_000];

/** A port of this machine that is free right now. It is chosen at random, as test runs side by side each take some. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORT_MIN, PORT_MAX);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer().once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
