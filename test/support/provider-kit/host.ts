import { setTimeout as sleep } from "node:timers/promises";
import { openProviderSandbox } from "../../../adapters/sandbox/index.js";
import type { ProviderDefinition, ProviderHost, ProviderModel } from "../../../core/ports/music-provider.js";
import { withDefaults } from "../../../core/providers/setting-defaults.js";

/** A line a plugin logged, as it was given: nothing is masked, so that a test can see what should not be there. */
export interface ProviderLogLine {
  readonly level: "info" | "warn";
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

/** The host of a plugin under test. */
export interface HostUnderTest extends ProviderHost {
  readonly lines: readonly ProviderLogLine[];
  /** The URLs that were asked for with the host's `fetch`. */
  readonly fetched: readonly string[];
}

/** What {@link providerHost} gives the plugin. */
export interface HostOptions {
  readonly settings?: ProviderHost["settings"];
  readonly models?: readonly ProviderModel[];
  /** A `ManualClock`, where a test decides on the time; the system's by default. */
  readonly clock?: ProviderHost["clock"];
  readonly fetch?: typeof fetch;
}

/**
 * What the host gives a plugin, for a test: real `fetch`, real child processes, a clock, and a log that is stored.
 *
 * @example
 * const { definition } = new ScriptedProvider();
 * const host = providerHost({ models: definition.models, clock: new ManualClock() });
 * const provider = definition.create(host);
 * assert.deepEqual(host.lines, []);
 */
export function providerHost({
  settings = {},
  models = [],
  clock,
  fetch: own = fetch,
}: HostOptions = {}): HostUnderTest {
  const lines: ProviderLogLine[] = [];
  const fetched: string[] = [];
  return {
    settings,
    models,
    lines,
    fetched,
    fetch: (input, init) => {
      fetched.push(input instanceof Request ? input.url : String(input));
      return own(input, init);
    },
    sandbox: openProviderSandbox,
    clock: clock ?? {
      now: () => Date.now(),
      sleep: (ms, signal) => sleep(ms, undefined, signal === undefined ? {} : { signal }),
    },
    logger: {
      info: (message, fields = {}) => void lines.push({ level: "info", message, fields }),
      warn: (message, fields = {}) => void lines.push({ level: "warn", message, fields }),
    },
  };
}

/**
 * The definition's settings with their defaults, and `given` over them: what the host passes to a plugin.
 *
 * @example
 * const { definition } = new ScriptedProvider();
 * const host = providerHost({ settings: settingsOf(definition, {}) });
 */
export function settingsOf(
  definition: Pick<ProviderDefinition, "settings">,
  given: ProviderHost["settings"],
): ProviderHost["settings"] {
  return withDefaults(definition.settings, given);
}
