import type { ConfiguredCatalogue } from "../adapters/cli/host.js";
import { presentModel } from "../adapters/http/presenters/model.js";
import { listConfiguredModels } from "../core/providers/list-models.js";
import { routePreferences } from "./core-options.js";
import { type LoadedPlugin, loadPlugins, toCatalogueProvider } from "./plugins.js";
import type { Settings } from "./settings.js";

/** The plugins that the settings name, and their models. Opens no storage. @throws {SettingsError} as `loadPlugins` */
export async function readCatalogue(settings: Settings): Promise<ConfiguredCatalogue> {
  const plugins = await loadPlugins(settings);
  const isReachable = settings.http.publicUrl !== null;
  const models = await listConfiguredModels(
    plugins.map((plugin) => toCatalogueProvider(plugin, isReachable)),
    routePreferences(settings),
  );
  return { plugins: plugins.map(report), models: models.map(presentModel) };
}

function report({ definition, enabled, source }: LoadedPlugin): ConfiguredCatalogue["plugins"][number] {
  const { id, label, portVersion, models } = definition;
  return { id, label, enabled, source, port_version: portVersion, models: models.map((model) => model.id) };
}
