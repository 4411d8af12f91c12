import { execFile } from "node:child_process";
import { type AddressInfo, createServer } from "node:net";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Installs one of Debian's packages; for root. */
export async function installPackage(name: string): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await run("apt-get", ["update"], { env });
  await run("apt-get", ["install", "--yes", "--no-install-recommends", name], { env });
}

/** A port of this machine that nobody listens on right now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
