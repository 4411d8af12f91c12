import type { WorkingProvider } from "../core/execution/working-provider.js";
import { pollOf } from "../core/execution/poll-together.js";
import type { CatalogueProvider } from "../core/providers/catalogue.js";
import type { Clock } from "../core/ports/clock.js";
import type { Logger } from "../core/ports/logger.js";
import type { Tracer } from "../core/ports/tracer.js";
import {
  PROVIDER_PORT_VERSION,
  type ProviderCapabilities,
  type ProviderDefinition,
  type ProviderHost,
  type ProviderModel,
} from "../core/ports/music-provider.js";
import { createProvider } from "../core/providers/create-provider.js";
import { definitionIssues, missingMethods } from "../core/providers/definition-issues.js";
import {
  capabilityIssues,
  hostIssues,
  longestCallsIssues,
  longestCallsOf,
} from "../core/providers/definition-parts.js";
import { OperationRefusedError } from "../core/errors.js";
import { OutgoingRule } from "../core/providers/outgoing-rule.js";
import { issuesBetween } from "./plugin-issues.js";
import { maskOf } from "./plugin-secrets.js";
import { importPackage, type PluginPlaces } from "./provider-package.js";
import type { Settings } from "./settings.js";
import { nearestOf, SettingsError } from "./settings/issues.js";
import { withGivenModels } from "./settings/models.js";
import { validateOwnSettings } from "./settings/declared-settings.js";

/** Provider id to plugin, for those that come with Fermata. */
export const BUILT_IN: Readonly<Record<string, () => Promise<{ readonly default: ProviderDefinition }>>> = {
  "ace-step": () => import("../plugins/ace-step/index.js"),
  audioshake: () => import("../plugins/audioshake/index.js"),
  beatoven: () => import("../plugins/beatoven/index.js"),
  comfyui: () => import("../plugins/comfyui/index.js"),
  elevenlabs: () => import("../plugins/elevenlabs/index.js"),
  fal: () => import("../plugins/fal/index.js"),
  "http-model": () => import("../plugins/http-model/index.js"),
  lalal: () => import("../plugins/lalal/index.js"),
  loudly: () => import("../plugins/loudly/index.js"),
  lyria: () => import("../plugins/lyria/index.js"),
  minimax: () => import("../plugins/minimax/index.js"),
  mubert: () => import("../plugins/mubert/index.js"),
  mureka: () => import("../plugins/mureka/index.js"),
  musicai: () => import("../plugins/musicai/index.js"),
  musicgpt: () => import("../plugins/musicgpt/index.js"),
  replicate: () => import("../plugins/replicate/index.js"),
  sonauto: () => import("../plugins/sonauto/index.js"),
  stability: () => import("../plugins/stability/index.js"),
  "suno-compatible": () => import("../plugins/suno-compatible/index.js"),
  synth: () => import("../plugins/synth/index.js"),
};

/** A plugin named in config, checked, not yet started. */
export interface LoadedPlugin {
  readonly definition: ProviderDefinition;
  readonly enabled: boolean;
  /** `built-in`, or the package or path it was loaded from. */
  readonly source: string;
  readonly settings: ProviderHost["settings"];
  /** The plugin's, as config changed them. */
  readonly models: readonly ProviderModel[];
  readonly capabilities: ProviderCapabilities;
  /** As {@link WorkingProvider} has it. */
  readonly maxInFlight: number | null;
  /** Where its calls may go. */
  readonly outgoing: OutgoingRule;
}

/**
 * Loads every plugin named in config, those that are off included: their models are listed as unavailable.
 *
 * @param given plugins of an embedding app; they need no entry in config and win over it
 * @throws {SettingsError} with a line for every plugin that cannot be loaded and every setting of one that is wrong
 */
export async function loadPlugins(
  settings: Settings,
  given: readonly ProviderDefinition[] = [],
): Promise<LoadedPlugin[]> {
  const issues: string[] = [];
  const loaded: LoadedPlugin[] = [];
  const ids = new Set([...Object.keys(settings.plugins), ...given.map((definition) => definition.id)]);
  for (const id of ids) {
    const entry = settings.plugins[id];
    const definition = given.find((candidate) => candidate.id === id);
    const source = definition === undefined ? (entry?.use ?? "built-in") : "given";
    try {
      const found = checkedDefinition(
        id,
        definition ?? (await importDefinition(id, entry?.use ?? null, settings.pluginsDir)),
      );
      const own = validateOwnSettings(`plugins.${id}`, found.settings, entry?.own ?? {});
      const enabled = entry?.enabled ?? true;
      // What a plugin that is off would need is not asked for.
      if (enabled) issues.push(...own.issues);
      const maxInFlight = entry?.maxInFlight ?? found.maxInFlight ?? null;
      const offered = found.models.filter((model) => found.offersModel?.(model, own.values) ?? true);
      const { models, issues: wrongModels } = withGivenModels({ ...found, models: offered }, entry?.models ?? []);
      issues.push(...wrongModels);
      // A plugin that is off may lack the settings that its capabilities depend on.
      const capabilities =
        enabled || typeof found.capabilities !== "function" ? capabilitiesOf(found, own.values) : NO_CAPABILITIES;
      const outgoing = new OutgoingRule({
        providerId: id,
        settings: own.values,
        hosts: enabled || typeof found.hosts !== "function" ? hostsOf(found, own.values) : [],
        allowHosts: entry?.allowHosts ?? [],
      });
      loaded.push({
        definition: found,
        enabled,
        source,
        settings: own.values,
        models,
        capabilities,
        maxInFlight,
        outgoing,
      });
    } catch (error) {
      issues.push(`plugins.${id} (${source}): ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  issues.push(...issuesBetween(settings, loaded));
  if (issues.length > 0) throw new SettingsError(issues);
  return loaded;
}

/** @param isReachable whether the world can reach this installation */
export function toCatalogueProvider(
  { definition, enabled, models, capabilities, maxInFlight }: LoadedPlugin,
  isReachable: boolean,
): CatalogueProvider {
  const { id, label } = definition;
  return { ...capabilities, id, label, enabled, models, maxInFlight, isReachable };
}

const NO_CAPABILITIES: ProviderCapabilities = { idempotentSubmit: false, lookup: false, cancel: false };

function capabilitiesOf(
  { capabilities }: ProviderDefinition,
  settings: ProviderHost["settings"],
): ProviderCapabilities {
  return typeof capabilities === "function" ? capabilities(settings) : capabilities;
}

/** @returns null for a plugin that names none @throws {Error} what its function gives are no hosts */
function hostsOf({ hosts }: ProviderDefinition, settings: ProviderHost["settings"]): readonly string[] | null {
  if (typeof hosts !== "function") return hosts ?? null;
  const named = hosts(settings);
  const issues = hostIssues(named);
  if (issues.length > 0) throw new Error(issues.join("; "));
  return named;
}

/**
 * Starts a plugin.
 *
 * @param tracer null: its polls are not traced
 * @throws {Error} naming the plugin, when it cannot start
 */
export function startPlugin(
  plugin: LoadedPlugin,
  host: Pick<ProviderHost, "fetch" | "sandbox"> & { readonly clock: Clock; readonly logger: Logger },
  tracer: Tracer | null = null,
): WorkingProvider {
  const { definition, settings, models, capabilities, maxInFlight } = plugin;
  const { id, label, concurrency } = definition;
  const { clock, logger } = host;
  try {
    const provider = createProvider(definition, { ...host, settings, models, logger: logger.child({ provider: id }) });
    const atOnce = typeof concurrency === "number" ? concurrency : concurrency(settings);
    const longest = longestCallsOf(definition, settings);
    const issues = [
      ...capabilityIssues(capabilities),
      ...missingMethods(provider, capabilities),
      ...concurrencyIssues(atOnce),
      ...longestCallsIssues(longest),
    ];
    if (issues.length > 0) throw new Error(issues.join("; "));
    return {
      id,
      label,
      capabilities,
      concurrency: atOnce,
      maxInFlight,
      callLimitMs: longest.withSource + CALL_MARGIN_MS,
      plainCallLimitMs: longest.plain + CALL_MARGIN_MS,
      provider,
      masked: maskOf(plugin),
      poll: pollOf(provider, clock, tracer),
    };
  } catch (cause) {
    throw new Error(`The plugin ${id} could not start: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

function concurrencyIssues(concurrency: number): string[] {
  return Number.isSafeInteger(concurrency) && concurrency > 0
    ? []
    : [`concurrency: ${concurrency}; allowed: a whole number from 1`];
}

/** What a call may take longer than its plugin says before it is given up. */
const CALL_MARGIN_MS = 30_000;

async function importDefinition(id: string, use: string | null, pluginsDir: string | null): Promise<unknown> {
  const own = BUILT_IN[id];
  if (use === null && own === undefined) {
    const ids = Object.keys(BUILT_IN);
    throw new Error(
      `there is no built-in plugin of this id${didYouMean(id, ids)} (${ids.join(", ")}); ` +
        "set `use` to one of these, a package name or a path",
    );
  }
  if (use === null) return (await own?.())?.default;
  const builtIn = BUILT_IN[use];
  if (builtIn !== undefined) return underAnotherId((await builtIn()).default, id);
  return importPlugin(use, { cwd: process.cwd(), pluginsDir });
}

/** {@link importPackage}; where it fails, the built-in id that may have been meant. */
export function importPlugin(use: string, places: PluginPlaces): Promise<unknown> {
  return importPackage(use, places).catch((error: unknown) => {
    const hint = didYouMean(use, Object.keys(BUILT_IN));
    throw hint === "" ? error : new OperationRefusedError(`${(error as Error).message}${hint}`, { cause: error });
  });
}

function didYouMean(given: string, known: readonly string[]): string {
  const nearest = nearestOf(given, known);
  return nearest === null ? "" : `; did you mean ${nearest}?`;
}

/**
 * One built-in plugin for several accounts or servers. Its own models bear its own id, so config names those of this
 * one.
 */
function underAnotherId(definition: ProviderDefinition, id: string): ProviderDefinition {
  return definition.id === id ? definition : { ...definition, id, label: `${definition.label} (${id})`, models: [] };
}

function checkedDefinition(id: string, found: unknown): ProviderDefinition {
  const issues = definitionIssues(found);
  const definition = found as ProviderDefinition;
  // What another version means by its members is not known here: that it is another one is all there is to say.
  if (issues.length > 0)
    throw new Error(definition?.portVersion === PROVIDER_PORT_VERSION ? issues.join("; ") : issues[0]);
  if (definition.id !== id)
    throw new Error(
      `it is the plugin of ${JSON.stringify(definition.id)}; configure it as plugins.${definition.id} ` +
        "(only built-in plugins may run under a second id)",
    );
  return definition;
}
