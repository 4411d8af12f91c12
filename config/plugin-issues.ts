import type { ProviderDefinition, ProviderModel } from "../core/ports/music-provider.js";
import type { Settings } from "./settings.js";
import { keyLifetimeIssues } from "./settings/key-lifetime.js";

/** A plugin and what it offers. */
interface OfferedModels {
  readonly definition: Pick<ProviderDefinition, "id">;
  readonly models: readonly ProviderModel[];
}

/** What is wrong with the plugins together, and with what the settings say of their models. */
export function issuesBetween(settings: Settings, loaded: readonly OfferedModels[]): string[] {
  return [
    ...repeatedModels(loaded),
    ...unknownFallbacks(settings, loaded),
    ...repeatedRoutes(settings),
    ...longRenders(settings, loaded),
  ];
}

function unknownFallbacks({ routing }: Settings, loaded: readonly OfferedModels[]): string[] {
  const known = new Set(loaded.flatMap(({ models }) => models.map(({ id }) => id)));
  const named = routing.fallbacks.flatMap((chain) => chain.split(">").map((id) => id.trim()));
  const unknown = [...new Set(named)].filter((id) => !known.has(id));
  return unknown.map((id) => `routing.fallbacks: there is no model ${JSON.stringify(id)} (${[...known].join(", ")})`);
}

/** A job that comes by the same place twice would go round until its deadline. */
function repeatedRoutes({ routing, stemSplit, vocalRemoval }: Settings): string[] {
  const chains = routing.fallbacks.map((chain) => chain.split(">").map((id) => id.trim()));
  return [
    ...repeated(chains.map(([first = ""]) => first)).map(
      (id) => `routing.fallbacks: ${id} begins more than one chain; allowed: one`,
    ),
    ...chains.flatMap((chain) =>
      repeated(chain).map((id) => `routing.fallbacks: ${id} is in the chain ${chain.join(" > ")} twice; allowed: once`),
    ),
    ...repeated(stemSplit.providers).map((id) => `stemSplit.providers: ${id} is there twice; allowed: once`),
    ...repeated(vocalRemoval.providers).map((id) => `vocalRemoval.providers: ${id} is there twice; allowed: once`),
  ];
}

/** A model's own render deadline counts like that of all. */
function longRenders({ jobs, idempotency }: Settings, loaded: readonly OfferedModels[]): string[] {
  const own = loaded.flatMap(({ definition: { id }, models }) =>
    models.flatMap((model) =>
      model.renderDeadlineMinutes === undefined ? [] : [{ ...model, plugin: id, minutes: model.renderDeadlineMinutes }],
    ),
  );
  return own.flatMap(({ plugin, id, minutes }) => {
    const path = `plugins.${plugin}: renderDeadlineMinutes of ${id}`;
    return keyLifetimeIssues(
      { "jobs.queueDeadlineMinutes": jobs.queueDeadlineMinutes, [path]: minutes },
      idempotency.ttlHours,
    );
  });
}

function repeated(items: readonly string[]): string[] {
  return [...new Set(items.filter((item, index) => items.indexOf(item) !== index))];
}

function repeatedModels(loaded: readonly OfferedModels[]): string[] {
  const owners = new Map<string, string>();
  const issues: string[] = [];
  for (const { definition, models } of loaded) {
    for (const model of models) {
      const owner = owners.get(model.id);
      if (owner !== undefined)
        issues.push(`plugins.${definition.id}: its model ${model.id} is already one of ${owner}`);
      else owners.set(model.id, definition.id);
    }
  }
  return issues;
}
