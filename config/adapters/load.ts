import { redactText } from "../../adapters/observability/redact.js";
import { assert } from "../../core/assert.js";
import type {
  AdapterCheckHost,
  AdapterDefinition,
  AdapterHost,
  AdapterPort,
  AdapterPorts,
} from "../../core/ports/adapter.js";
import { type CheckResult, failed } from "../../core/ports/self-check.js";
import { importPackage } from "../provider-package.js";
import type { Settings } from "../settings.js";
import { completeUrl, formsText, hasForm, schemeOf } from "../settings/adapter-url.js";
import { validateOwnSettings } from "../settings/declared-settings.js";
import type { GivenSetting } from "../settings/definition.js";
import { refusedLine, SettingsError } from "../settings/issues.js";
import { BUILT_IN_ADAPTERS } from "./built-in.js";
import { ADAPTER_PORTS, adapterIssues, openedIssues } from "./definition-issues.js";

type Given = Omit<AdapterHost, "url" | "settings">;
type GivenToCheck = Omit<AdapterCheckHost, "url" | "settings">;

/** An adapter with its settings, checked, not yet open. */
export class LoadedAdapter<Port extends AdapterPort = AdapterPort> {
  constructor(
    readonly definition: AdapterDefinition<Port>,
    private readonly chosen: Pick<AdapterHost, "url" | "settings"> & {
      /** The package or path it comes from; null: it is built in. */
      readonly use: string | null;
    },
  ) {}

  /** `built-in`, or the package or path it comes from. */
  get source(): string {
    return this.chosen.use ?? "built-in";
  }

  /** Whether what it opens can be used from other machines. */
  get isShared(): boolean {
    return this.definition.schemes[this.scheme]?.rest !== "path";
  }

  get scheme(): string {
    return schemeOf(this.chosen.url);
  }

  /** @throws {Error} it cannot be opened; of an adapter from elsewhere it names which, and what it returned */
  async open(given: Given): Promise<AdapterPorts[Port]> {
    const { definition, chosen } = this;
    const { url, settings, use } = chosen;
    const host = { ...given, url, settings };
    if (use === null) return definition.open(host);
    const { port } = definition;
    try {
      const opened: unknown = await definition.open(host);
      const issues = openedIssues(port, opened);
      if (issues.length > 0) throw new Error(issues.join("; "));
      return opened as AdapterPorts[Port];
    } catch (cause) {
      throw new Error(`${port}.use (${use}) could not be opened: ${messageOf(cause)}`, { cause });
    }
  }

  /** As `SelfCheck`. @returns null for an adapter without checks */
  async check(given: GivenToCheck): Promise<readonly CheckResult[] | null> {
    const { definition, chosen } = this;
    const { url, settings, use } = chosen;
    if (definition.check === undefined) return null;
    try {
      const results: unknown = await definition.check({ ...given, url, settings });
      if (!Array.isArray(results)) throw new Error("it returned no list of results");
      return results as readonly CheckResult[];
    } catch (error) {
      if (use === null) throw error;
      const { port } = definition;
      return [failed(port, `The check of ${use} failed: ${messageOf(error)}.`, `See its README, or ${port}.use.`)];
    }
  }
}

/** The adapters of the ports that were asked for. */
export class LoadedAdapters {
  constructor(private readonly byPort: ReadonlyMap<AdapterPort, LoadedAdapter>) {}

  /** @throws {Error} it was not asked for */
  get<Port extends AdapterPort>(port: Port): LoadedAdapter<Port> {
    const found = this.byPort.get(port);
    assert(found !== undefined, `the adapter of ${port} is loaded before it is opened`);
    return found as LoadedAdapter<Port>;
  }
}

/**
 * Loads the adapters that the settings choose; none is opened.
 *
 * @throws {SettingsError} with a line for every adapter that cannot be loaded and every setting of one that is wrong
 */
export async function loadAdapters(
  settings: Settings,
  ports: readonly AdapterPort[] = ADAPTER_PORTS,
): Promise<LoadedAdapters> {
  const issues: string[] = [];
  const loaded = new Map<AdapterPort, LoadedAdapter>();
  for (const port of ports) {
    try {
      loaded.set(port, await loadAdapter(settings, port));
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      issues.push(...error.lines);
    }
  }
  if (issues.length > 0) throw new SettingsError(issues);
  return new LoadedAdapters(loaded);
}

/** @throws {SettingsError} as {@link loadAdapters} */
export async function loadAdapter<Port extends AdapterPort>(
  settings: Settings,
  port: Port,
): Promise<LoadedAdapter<Port>> {
  const { use, url, options } = settings[port];
  if (use === null) return builtIn(settings, port);
  const definition = await importAdapter(use, settings.pluginsDir, port);
  const names = { url: `${port}.url`, options: `${port}.options` };
  const { issues, ...place } = placeFor(definition, { url, options, cwd: process.cwd() }, names);
  if (issues.length > 0) throw new SettingsError(issues);
  return new LoadedAdapter(definition, { ...place, use });
}

/**
 * The URL and the own settings as an adapter gets them.
 *
 * @param names how issues call them
 * @returns with any issue, a line each, the rest must not be used
 */
export function placeFor(
  { schemes, settings }: AdapterDefinition,
  given: { readonly url: string; readonly options: Readonly<Record<string, GivenSetting>>; readonly cwd: string },
  names: { readonly url: string; readonly options: string },
): Pick<AdapterHost, "url" | "settings"> & { readonly issues: readonly string[] } {
  const { url, options, cwd } = given;
  const own = validateOwnSettings(names.options, settings, options);
  const ofUrl = hasForm(url, schemes) ? [] : [refusedLine(names.url, null, url, formsText(schemes), false)];
  return { url: completeUrl(url, schemes, cwd), settings: own.values, issues: [...ofUrl, ...own.issues] };
}

/** Its settings are those of the group, by their names. */
function builtIn<Port extends AdapterPort>(settings: Settings, port: Port): LoadedAdapter<Port> {
  const { url } = settings[port];
  const group: Readonly<Record<string, unknown>> = settings[port];
  const found = BUILT_IN_ADAPTERS.find((adapter) => adapter.port === port && hasForm(url, adapter.schemes));
  if (found === undefined) throw new Error(`No built-in adapter takes the URL of ${port}.url.`);
  const values = Object.keys(found.settings).map((name) => [name, group[name] ?? undefined]);
  const own = Object.fromEntries(values) as AdapterHost["settings"];
  return new LoadedAdapter(found as AdapterDefinition<Port>, { url, settings: own, use: null });
}

/** @throws {SettingsError} there is no such package, or it is no adapter of this port */
async function importAdapter<Port extends AdapterPort>(
  use: string,
  pluginsDir: string | null,
  port: Port,
): Promise<AdapterDefinition<Port>> {
  const found = await importPackage(use, { cwd: process.cwd(), pluginsDir }).catch((error: unknown) => {
    throw new SettingsError([`${port}.use: ${messageOf(error)}`]);
  });
  const issues = adapterIssues(found);
  if (issues.length > 0) throw new SettingsError([`${port}.use (${use}): ${issues.join("; ")}`]);
  const definition = found as AdapterDefinition;
  if (definition.port !== port)
    throw new SettingsError([
      `${port}.use (${use}): it is an adapter of ${definition.port}; name it in ${definition.port}.use`,
    ]);
  return definition as AdapterDefinition<Port>;
}

/** An adapter from elsewhere may have put its URL, with a password, into an error. */
export function messageOf(error: unknown): string {
  return redactText(error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
}
