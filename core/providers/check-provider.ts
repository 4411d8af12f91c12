import { PROVIDER_PORT_VERSION } from "../ports/music-provider.js";
import type { ProviderDefinition, ProviderHost, ProviderSetting } from "../ports/music-provider.js";
import { createProvider, NoProviderError } from "./create-provider.js";
import { definitionIssues, methodIssues } from "./definition-issues.js";
import { capabilityIssues, longestCallsIssues, longestCallsOf } from "./definition-parts.js";
import { withDefaults } from "./setting-defaults.js";

/** What was found out about a plugin without any configuration. */
export interface CheckedProvider {
  /** null where it has none that is text. */
  readonly id: string | null;
  readonly portVersion: number | null;
  readonly ours: number;
  readonly models: readonly string[];
  /** What stops the host from using it, a line each. */
  readonly issues: readonly string[];
  /** What could not be looked at, and why. */
  readonly notes: readonly string[];
}

/**
 * Looks at all that a plugin declares, and starts it once with its default settings to compare its methods with that.
 * No network: its `fetch` refuses.
 *
 * @param value the default export, of any type
 */
export async function checkProvider(value: unknown): Promise<CheckedProvider> {
  const issues = definitionIssues(value);
  const { id, portVersion, models } = (value ?? {}) as Partial<Record<keyof ProviderDefinition, unknown>>;
  const started =
    issues.length === 0
      ? await startForCheck(value as ProviderDefinition)
      : { issues: [], notes: ["not started: its definition is not right yet"] };
  const ids = Array.isArray(models)
    ? models.map((model: unknown) => (model as { readonly id?: unknown } | null)?.id)
    : [];
  return {
    id: typeof id === "string" ? id : null,
    portVersion: typeof portVersion === "number" ? portVersion : null,
    ours: PROVIDER_PORT_VERSION,
    models: ids.filter((model) => typeof model === "string"),
    issues: [...issues, ...started.issues],
    notes: started.notes,
  };
}

async function startForCheck(definition: ProviderDefinition): Promise<Pick<CheckedProvider, "issues" | "notes">> {
  const required = Object.entries(definition.settings).filter(([, setting]) => setting.required === true);
  const examples = Object.fromEntries(required.map(([name, setting]) => [name, exampleOf(name, setting)]));
  const settings = withDefaults(definition.settings, examples);
  try {
    const { capabilities, concurrency, models } = definition;
    const declared = typeof capabilities === "function" ? capabilities(settings) : capabilities;
    const atOnce = typeof concurrency === "function" ? concurrency(settings) : concurrency;
    const offered = models.filter((model) => definition.offersModel?.(model, settings) ?? true);
    const provider = createProvider(definition, aHost(settings, offered));
    const issues = [...capabilityIssues(declared), ...methodIssues(provider, declared)];
    if (!Number.isSafeInteger(atOnce) || atOnce < 1)
      issues.push(`concurrency: ${atOnce} for the default settings; allowed: a whole number from 1`);
    issues.push(...longestCallsIssues(longestCallsOf(definition, settings)));
    for (const model of models) {
      const issue = definition.checkModel?.(model) ?? null;
      if (issue !== null) issues.push(`checkModel refuses its own model ${model.id}: ${issue}`);
    }
    await provider.close?.();
    return { issues: issues, notes: [] };
  } catch (error) {
    if (error instanceof NoProviderError) return { issues: [error.message], notes: [] };
    // It may need settings that an example cannot replace: a key in a form of its own.
    const reason = error instanceof Error ? error.message : String(error);
    return {
      issues: [],
      notes: [`methods not compared with capabilities: it does not start with example settings (${reason})`],
    };
  }
}

/** Something of its type, for a setting that is required. */
function exampleOf(name: string, setting: ProviderSetting): string | number | boolean {
  if (setting.type === "boolean") return false;
  if (setting.type === "integer") return setting.minimum ?? 1;
  return setting.allowed?.[0] ?? (/url$/i.test(name) ? "http://127.0.0.1:9" : "example-value");
}

function aHost(settings: ProviderHost["settings"], models: ProviderHost["models"]): ProviderHost {
  const nothing = (): void => undefined;
  return {
    settings,
    models,
    fetch: () => Promise.reject(new Error("a check makes no calls")),
    sandbox: () => ({
      run: () => Promise.reject(new Error("a check starts no processes")),
      close: () => Promise.resolve(),
    }),
    clock: { now: () => 0, sleep: () => Promise.reject(new Error("a check does not wait")) },
    logger: { info: nothing, warn: nothing },
  };
}
