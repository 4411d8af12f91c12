/**
 * The first file of a child process: one request comes in at a time, and one reply goes out for each. The module that
 * replies is named by the first argument.
 */
import { disableNetwork } from "./disable-network.js";
import { READY, type SandboxModule } from "./messages.js";

// The parent decides when this process ends, also while a service manager stops all processes of the service at once.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
process.on("disconnect", () => process.exit());

disableNetwork();
const { handle } = (await import(process.argv[2] ?? "")) as SandboxModule;
process.on("message", (request: object) => void reply(request));
process.send?.(READY);

/** An error that a module throws ends the process; the parent reports why. */
async function reply(request: object): Promise<void> {
  process.send?.(await handle(request));
}
