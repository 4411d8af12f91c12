import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { WorkingProvider } from "../core/jobs/run-job.js";
import type { CatalogueProvider } from "../core/models/catalogue.js";
import type { Clock } from "../core/ports/clock.js";
import type { Logger } from "../core/ports/logger.js";
import { PROVIDER_PORT_VERSION, type ProviderDefinition, type ProviderHost } from "../core/ports/music-provider.js";
import type { Settings } from "./settings.js";
import { SettingsError } from "./settings/mistakes.js";
import { validatePluginSettings } from "./settings/plugin-settings.js";

/** Provider id to plugin, for those that come with Fermata. */
export const BUILT_IN: Readonly<Record<string, () => Promise<{ readonly default: ProviderDefinition }>>> = {
  synth: () => import("../plugins/synth/index.js"),
};

/** A plugin named in config, checked, not yet started. */
export interface LoadedPlugin {
  readonly definition: ProviderDefinition;
  readonly enabled: boolean;
  /** `built-in`, or the package or path it was loaded from. */
  readonly source: string;
  readonly settings: ProviderHost["settings"];
  /** As {@link WorkingProvider} has it. */
  readonly maxInFlight: number | null;
}

/**
 * Loads every plugin named in config, those that are off included: their models are listed as unavailable.
 *
 * @param given plugins of an embedding app; they need no entry in config and win over it
 * @throws {SettingsError} with a line for every plugin that cannot be loaded and every setting of one that is wrong
 */
export async function loadPlugins(settings: Settings, given: readonly ProviderDefinition[] = []): Promise<LoadedPlugin[]> {
  const mistakes: string[] = [];
  const loaded: LoadedPlugin[] = [];
  const ids = new Set([...Object.keys(settings.plugins), ...given.map((definition) => definition.id)]);
  for (const id of ids) {
    const entry = settings.plugins[id];
    const definition = given.find((candidate) => candidate.id === id);
    const source = definition === undefined ? (entry?.use ?? "built-in") : "given";
    try {
      const found = definition ?? (await importDefinition(id, entry?.use ?? null));
      checkDefinition(id, found);
      const own = validatePluginSettings(id, found.settings, entry?.own ?? {});
      const enabled = entry?.enabled ?? true;
      // What a plugin that is off would need is not asked for.
      if (enabled) mistakes.push(...own.mistakes);
      const maxInFlight = entry?.maxInFlight ?? found.maxInFlight ?? null;
      loaded.push({ definition: found, enabled, source, settings: own.values, maxInFlight });
    } catch (error) {
      mistakes.push(`plugins.${id} (${source}): ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  mistakes.push(...repeatedModels(loaded));
  if (mistakes.length > 0) throw new SettingsError(mistakes);
  return loaded;
}

export function toCatalogueProvider({ definition, enabled }: LoadedPlugin): CatalogueProvider {
  return { id: definition.id, label: definition.label, enabled, models: definition.models };
}

/** Starts a plugin. @throws {Error} naming the plugin, when it cannot start */
export function startPlugin(plugin: LoadedPlugin, clock: Clock, logger: Logger): WorkingProvider {
  const { definition, settings, maxInFlight } = plugin;
  const { id, label, capabilities, concurrency } = definition;
  try {
    return {
      id,
      label,
      capabilities,
      concurrency: typeof concurrency === "number" ? concurrency : concurrency(settings),
      maxInFlight,
      provider: definition.create({ settings, fetch, clock, logger: logger.child({ provider: id }) }),
    };
  } catch (cause) {
    throw new Error(`The plugin ${id} could not start: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

async function importDefinition(id: string, use: string | null): Promise<ProviderDefinition> {
  const builtIn = BUILT_IN[id];
  if (use === null && builtIn === undefined) {
    throw new Error(`there is no built-in plugin of this id (${Object.keys(BUILT_IN).join(", ")}); set \`use\` to a package name or path`);
  }
  const module: unknown = use === null ? await builtIn?.() : await import(locate(use));
  const definition = (module as { readonly default?: ProviderDefinition } | undefined)?.default;
  if (typeof definition !== "object" || definition === null) throw new Error("its default export is no provider definition");
  return definition;
}

/** Packages and paths are found from the working directory, as the operator's own modules are. */
function locate(use: string): string {
  const isPath = isAbsolute(use) || use.startsWith(".");
  if (!isPath) return pathToFileURL(createRequire(join(process.cwd(), "package.json")).resolve(use)).href;
  const path = resolve(use);
  const index = join(path, "index.js");
  return pathToFileURL(existsSync(index) ? index : path).href;
}

function checkDefinition(id: string, definition: ProviderDefinition): void {
  if (definition.portVersion !== PROVIDER_PORT_VERSION) {
    throw new Error(`it speaks port version ${definition.portVersion}; this Fermata speaks ${PROVIDER_PORT_VERSION}`);
  }
  if (definition.id !== id) throw new Error(`it is the plugin of ${JSON.stringify(definition.id)}`);
  if (!/^[a-z0-9][a-z0-9-]{0,29}$/.test(id)) throw new Error("its id is not up to 30 lower-case letters, digits and -");
  if (typeof definition.create !== "function") throw new Error("it has no `create`");
  for (const model of definition.models) {
    if (!/^[a-z0-9][a-z0-9._-]*\/[a-z0-9][a-z0-9._-]*$/.test(model.id) || model.id.length > 100) {
      throw new Error(`its model id ${JSON.stringify(model.id)} is not <provider>/<name> in lower case`);
    }
    if (!Number.isSafeInteger(model.creditCost) || model.creditCost < 0) {
      throw new Error(`its model ${model.id} costs ${model.creditCost}; allowed: a whole number of credits`);
    }
  }
}

function repeatedModels(loaded: readonly LoadedPlugin[]): string[] {
  const owners = new Map<string, string>();
  const mistakes: string[] = [];
  for (const { definition } of loaded) {
    for (const model of definition.models) {
      const owner = owners.get(model.id);
      if (owner !== undefined) mistakes.push(`plugins.${definition.id}: its model ${model.id} is already one of ${owner}`);
      else owners.set(model.id, definition.id);
    }
  }
  return mistakes;
}
