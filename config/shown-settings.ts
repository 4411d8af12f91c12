import type { ShownSetting } from "../adapters/cli/host.js";
import { isSecretName, MASK, redact } from "../adapters/observability/redact.js";
import { OperationRefusedError } from "../core/errors.js";
import type { SettingDeclarations } from "../core/ports/declared-settings.js";
import { ADAPTER_PORTS } from "./adapters/definition-issues.js";
import { loadAdapter, loadAdapters } from "./adapters/load.js";
import { OVERRIDES, resolvedOf, resolveSettings, type SettingsSources } from "./load.js";
import { PACKAGE_USERS, requirePackages } from "./optional-packages.js";
import { loadPlugins } from "./plugins.js";
import type { Settings } from "./settings.js";
import { validateOwnSettings } from "./settings/declared-settings.js";
import type { GivenSetting } from "./settings/definition.js";
import type { RenamedSetting } from "./settings/given-settings.js";
import { SettingsError } from "./settings/issues.js";
import type { ResolvedSetting } from "./settings/resolver.js";

/**
 * The settings in force, those that plugins and adapters declare included. Opens nothing.
 *
 * @throws {SettingsError} with a line for every issue of a start
 */
export async function showSettings(sources: SettingsSources): Promise<readonly ShownSetting[]> {
  const { settings } = resolveSettings(sources);
  return showSettingsOf(settings);
}

/**
 * The same of settings that were loaded.
 *
 * @throws {OperationRefusedError} an app has changed them since: it is not known where they come from
 */
export async function showSettingsOf(settings: Settings): Promise<readonly ShownSetting[]> {
  const resolved = resolvedOf(settings);
  if (resolved === null)
    throw new OperationRefusedError("The app changed its settings after it had loaded them; they cannot be shown.");
  return [...resolved, ...(await ofPlugins(settings)), ...(await ofAdapters(settings))].map(shown);
}

/** What would stop a start with these settings, a line each, and what they give by an older name. Opens nothing. */
export async function checkSettings(
  sources: SettingsSources,
): Promise<{ readonly issues: readonly string[]; readonly notes: readonly string[] }> {
  const renamed: RenamedSetting[] = [];
  const onRenamed = (setting: RenamedSetting): void => void renamed.push(setting);
  const notesOf = ({ from, to, origin }: RenamedSetting): string => `${from} (${origin}): older name of ${to}`;
  const found = await issuesOf(async () => resolveSettings({ ...sources, onRenamed }).settings);
  const { value: settings } = found;
  // Without settings nothing is known of what they choose.
  const others =
    settings === null
      ? []
      : [
          await issuesOf(async () => requirePackages(settings, PACKAGE_USERS)),
          await issuesOf(() => loadPlugins(settings)),
          await issuesOf(() => loadAdapters(settings)),
        ];
  return { issues: [found, ...others].flatMap(({ issues }) => issues), notes: renamed.map(notesOf) };
}

async function issuesOf<T>(
  work: () => Promise<T>,
): Promise<{ readonly value: T | null; readonly issues: readonly string[] }> {
  try {
    return { value: await work(), issues: [] };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return { value: null, issues: error.lines };
  }
}

async function ofPlugins(settings: Settings): Promise<readonly ResolvedSetting[]> {
  const loaded = await loadPlugins(settings);
  return loaded.flatMap(({ definition: { id, settings: declared } }) =>
    ofDeclared(`plugins.${id}`, declared, settings.plugins[id]?.own ?? {}),
  );
}

async function ofAdapters(settings: Settings): Promise<readonly ResolvedSetting[]> {
  // Those of the built-in adapters are settings like all others.
  const chosen = ADAPTER_PORTS.filter((port) => settings[port].use !== null);
  const adapters = await Promise.all(
    chosen.map(async (port) => ({ port, declared: (await loadAdapter(settings, port)).definition.settings })),
  );
  return adapters.flatMap(({ port, declared }) => ofDeclared(`${port}.options`, declared, settings[port].options));
}

function ofDeclared(
  path: string,
  declared: SettingDeclarations,
  given: Readonly<Record<string, GivenSetting>>,
): readonly ResolvedSetting[] {
  const own = validateOwnSettings(path, declared, given);
  return Object.entries(declared).map(([name, { secret = false }]) => ({
    path: `${path}.${name}`,
    value: own.values[name] ?? null,
    given: own.given.get(name) ?? null,
    isSecret: secret,
  }));
}

function shown({ path, value, given, isSecret }: ResolvedSetting): ShownSetting {
  const isMasked = value !== null && (isSecret || path.split(".").some(isSecretName));
  return { path, value: isMasked ? MASK : redact(value), origin: originOf(given), source: given?.origin ?? null };
}

function originOf(given: GivenSetting | null): ShownSetting["origin"] {
  if (given === null) return "default";
  if (given.origin === OVERRIDES) return "app";
  return given.isText ? "environment" : "file";
}
