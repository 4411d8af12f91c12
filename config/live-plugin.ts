import { OperationRefusedError } from "../core/errors.js";
import type { ProviderDefinition } from "../core/ports/music-provider.js";
import { definitionIssues } from "../core/providers/definition-issues.js";
import { BUILT_IN, importPlugin, type LoadedPlugin, loadPlugins } from "./plugins.js";
import type { Settings } from "./settings.js";

type Entry = Settings["plugins"][string];

/** A plugin that is not in the settings, as the defaults have it. */
const NO_ENTRY: Entry = { enabled: true, use: null, maxInFlight: null, allowHosts: [], models: [], own: {} };

/**
 * Loads one plugin with its settings, whether it is on or off, and no other.
 *
 * @param use its id in the settings, the id of a built-in one, or a package or path as `use` has it there
 * @throws {SettingsError} its settings are wrong, such as a key that is missing
 * @throws {OperationRefusedError} there is no such plugin, or its definition is wrong
 */
export async function loadOnePlugin(settings: Settings, use: string, cwd: string): Promise<LoadedPlugin> {
  const { id, definition } = await named(settings, use, cwd);
  const entry = Object.hasOwn(settings.plugins, id) ? (settings.plugins[id] ?? NO_ENTRY) : NO_ENTRY;
  const plugins = { [id]: { ...entry, enabled: true } };
  const [loaded] = await loadPlugins({ ...settings, plugins, routing: { fallbacks: [] } }, definition);
  if (loaded === undefined) throw new Error(`The plugin ${id} was not loaded.`);
  return loaded;
}

async function named(
  { plugins, pluginsDir }: Settings,
  use: string,
  cwd: string,
): Promise<{ readonly id: string; readonly definition: readonly ProviderDefinition[] }> {
  if (Object.hasOwn(plugins, use) || Object.hasOwn(BUILT_IN, use)) return { id: use, definition: [] };
  const ids = Object.keys(plugins).filter((id) => plugins[id]?.use === use);
  if (ids.length > 1)
    throw new OperationRefusedError(`${use} is the plugin of several providers; name one: ${ids.join(", ")}.`);
  if (ids[0] !== undefined) return { id: ids[0], definition: [] };
  const found = await importPlugin(use, { cwd, pluginsDir });
  const issues = definitionIssues(found);
  if (issues.length > 0) throw new OperationRefusedError(`${use}: ${issues.join("; ")}`);
  const definition = found as ProviderDefinition;
  return { id: definition.id, definition: [definition] };
}
