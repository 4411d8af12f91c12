import type { AudioStore } from "./audio-store.js";
import type { Clock } from "./clock.js";
import type { SettingDeclarations, SettingValues } from "./declared-settings.js";
import type { JobQueue } from "./job-queue.js";
import type { Logger } from "./logger.js";
import type { OpenedStorage } from "./opened-storage.js";
import type { Random } from "./random.js";
import type { CheckResult } from "./self-check.js";

/** The version of {@link AdapterDefinition}; a change of its number is a change that adapters must follow. */
export const ADAPTER_PORT_VERSION = 1;

/** What an adapter of each port opens; the name is that of its group of settings (`storage.url`, `queue.url` …). */
export interface AdapterPorts {
  readonly storage: OpenedStorage;
  readonly queue: JobQueue;
  readonly audio: AudioStore;
}

export type AdapterPort = keyof AdapterPorts;

/** A form of URL that an adapter takes. */
export interface UrlForm {
  /** As it is shown to operators: `redis://USER:PASSWORD@HOST:PORT/DATABASE`. */
  readonly form: string;
  /**
   * What has to follow the scheme. `path`: a file or directory, which the adapter gets as an absolute path. `nothing`.
   * `server`: `//` and a host. `database`: the same, and a name on it.
   */
  readonly rest: "path" | "nothing" | "server" | "database";
  /** Whether there may be several hosts, each once, with commas between them. Left out: no. */
  readonly takesSeveralHosts?: boolean;
}

/** What an adapter is opened with. */
export interface AdapterHost<Declared extends SettingDeclarations = SettingDeclarations> {
  /** Of one of the adapter's schemes, and complete. */
  readonly url: string;
  /** The adapter's own settings, checked against their declarations. */
  readonly settings: SettingValues<Declared>;
  readonly logger: Logger;
  /** Moments, and waits that a signal ends. */
  readonly clock: Clock;
  readonly random: Random;
}

/** What an adapter's check is given. */
export interface AdapterCheckHost<
  Declared extends SettingDeclarations = SettingDeclarations,
> extends AdapterHost<Declared> {
  /** The folder of everything that Fermata keeps on this machine. */
  readonly dataDir: string;
  /** Those whose plugins are enabled. */
  readonly providerIds: readonly string[];
}

/** An adapter that the settings can choose: what `defineAdapter` returns. */
export interface AdapterDefinition<
  Port extends AdapterPort = AdapterPort,
  Declared extends SettingDeclarations = SettingDeclarations,
> {
  readonly port: Port;
  readonly portVersion: number;
  /** The URLs it takes, by the scheme in front of the colon: lower-case letters, digits, `+`, `.` and `-`. */
  readonly schemes: { readonly [scheme: string]: UrlForm };
  /** Its own settings, under `PORT.options` of the settings. */
  readonly settings: Declared;
  /**
   * Opens it; a package that it needs is best imported here. A storage leaves its schema as it is: `schema` of what is
   * opened brings it up to date.
   *
   * @throws {Error} naming what cannot be opened, and why
   */
  open(host: AdapterHost<Declared>): Promise<AdapterPorts[Port]>;
  /** As `SelfCheck`: run by `fermata doctor`. Left out: that it can be opened is all that is checked. */
  check?(host: AdapterCheckHost<Declared>): Promise<readonly CheckResult[]>;
}

/**
 * The definition of an adapter for storage, queue or audio. The default export of a package or file that
 * `storage.use`, `queue.use` or `audio.use` names is what this returns.
 *
 * @example
 *   export default defineAdapter({
 *     port: "queue",
 *     schemes: { redis: { form: "redis://HOST:PORT", rest: "server" } },
 *     settings: { stream: { type: "string", default: "fermata", description: "Name of the stream" } },
 *     open: ({ url, settings, logger }) => RedisQueue.open(url, settings.stream, logger),
 *   });
 */
export function defineAdapter<Port extends AdapterPort, const Declared extends SettingDeclarations>(
  definition: Omit<AdapterDefinition<Port, Declared>, "portVersion">,
): AdapterDefinition<Port, Declared> {
  return { ...definition, portVersion: ADAPTER_PORT_VERSION };
}
