import { SystemClock } from "../../adapters/system/clock.js";
import { SystemRandom } from "../../adapters/system/random.js";
import type { AdapterCheckHost, AdapterPort, AdapterPorts } from "../../core/ports/adapter.js";
import type { Logger } from "../../core/ports/logger.js";
import type { OpenedStorage } from "../../core/ports/opened-storage.js";
import { type CheckResult, failed, ok } from "../../core/ports/self-check.js";
import { type LoadedAdapter, messageOf } from "./load.js";

/** What every check of an adapter is given. */
export type AdapterChecking = Omit<AdapterCheckHost, "url" | "settings" | "clock" | "random">;

/** Those of this machine. */
const CLOCKS = { clock: new SystemClock(), random: new SystemRandom() };

/** Of no fact and no file: what responds need not have it. */
const ANY_NAME = "doctor";

interface OpenPort<Opened> {
  /** Fails where it does not respond. */
  tryOut(opened: Opened): Promise<unknown>;
  close(opened: Opened): Promise<void>;
}

const OPEN_PORTS: { readonly [Port in AdapterPort]: OpenPort<AdapterPorts[Port]> } = {
  storage: { tryOut: tryStorage, close: async (storage) => storage.close?.() },
  queue: { tryOut: (queue) => queue.check(), close: (queue) => queue.close() },
  audio: { tryOut: (audio) => audio.stat(ANY_NAME), close: async (audio) => audio.close?.() },
};

/** The adapter's own checks; of one without any, that it can be opened and responds. */
export async function checkAdapter<Port extends AdapterPort>(
  adapter: LoadedAdapter<Port>,
  host: AdapterChecking,
): Promise<readonly CheckResult[]> {
  const checked = await adapter.check({ ...host, ...CLOCKS });
  if (checked !== null) return checked;
  const { port } = adapter.definition;
  const { tryOut }: OpenPort<AdapterPorts[Port]> = OPEN_PORTS[port];
  try {
    await withOpen(adapter, host, tryOut);
    return [ok(port, `It responds (${adapter.source}).`)];
  } catch (error) {
    return [failed(port, `${messageOf(error)}.`, `Correct ${port}.url, or see the README of ${adapter.source}.`)];
  }
}

/** Opens an adapter for the time of the work. */
export async function withOpen<Port extends AdapterPort, T>(
  adapter: LoadedAdapter<Port>,
  { logger }: { readonly logger: Logger },
  work: (opened: AdapterPorts[Port]) => Promise<T>,
): Promise<T> {
  const opened = await adapter.open({ logger, ...CLOCKS });
  const { close }: OpenPort<AdapterPorts[Port]> = OPEN_PORTS[adapter.definition.port];
  try {
    return await work(opened);
  } finally {
    await close(opened);
  }
}

async function tryStorage({ schema, checks, stores }: OpenedStorage): Promise<void> {
  await schema?.check();
  const all = checks === undefined ? [() => stores.installation.find(ANY_NAME)] : Object.values(checks);
  for (const check of all) await check();
}
