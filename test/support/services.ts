import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Installs one of Debian's packages; for root. */
export async function installPackage(name: string): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await run("apt-get", ["update"], { env });
  await run("apt-get", ["install", "--yes", "--no-install-recommends", name], { env });
}

/** The services of the tests, each by a file in Debian's package of it. */
const PACKAGES: Readonly<Record<string, string>> = {
  "mariadb-server": "/usr/sbin/mariadbd",
  "rabbitmq-server": "/usr/lib/rabbitmq/bin/rabbitmq-server",
  chromium: "/usr/bin/chromium",
  "python3-swift": "/usr/lib/python3/dist-packages/swift",
};

/**
 * Before several runs install the same at once. Without the rights or Debian, the test with the missing service fails
 * with a message.
 */
export async function installMissingPackages(): Promise<void> {
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return;
  for (const [name, file] of Object.entries(PACKAGES)) if (!existsSync(file)) await installPackage(name);
}

/** A free port of this machine. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
