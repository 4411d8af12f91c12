/** Models as an operator names or changes them: `plugins.ID.models`. */
import { z } from "zod";
import type { ProviderDefinition, ProviderModel } from "../../core/ports/music-provider.js";
import { givenMemberIssues, oneModelIssues } from "../../core/providers/model-rules.js";
import { isObject, type JsonObject, shown } from "../../core/providers/plain-values.js";
import { Leaf } from "./definition.js";
import { givenOptionIssues, type GivenOptions, withGivenOptions } from "./model-options.js";

/** A model of config: those members that are not as the plugin has them. */
export type GivenModel = Pick<ProviderModel, "id"> &
  Partial<Omit<ProviderModel, "requestOptions">> & {
    readonly enabled?: boolean;
    readonly requestOptions?: GivenOptions | undefined;
  };

const MODEL = z.custom<GivenModel>((given) => isObject(given) && givenModelIssues(given).length === 0);

/** What is wrong with a model of config, a line each, beginning with the member's name. */
function givenModelIssues({ enabled = true, requestOptions, ...members }: JsonObject): readonly string[] {
  return [
    ...(typeof enabled === "boolean" ? [] : [`enabled: ${shown(enabled)}; allowed: true, false`]),
    ...(members["id"] === undefined ? ["id: missing; allowed: the id of a model"] : []),
    ...givenMemberIssues(members),
    ...givenOptionIssues(requestOptions),
  ];
}

/** The same of a list of them; none where it is no list. */
function givenModelsIssues(given: unknown): readonly string[] {
  if (!Array.isArray(given)) return [];
  return given.flatMap((model: unknown, index) => {
    if (!isObject(model)) return [`[${index}]: ${shown(model)}; allowed: a model, with its id`];
    return givenModelIssues(model).map((issue) => `[${index}].${issue}`);
  });
}

/** A list of models; as one text of the environment, JSON. */
export const models = new Leaf<readonly GivenModel[]>({
  type: "list of models",
  allowed:
    'a list of models, each with its `id` and the members to change (plugins/README.md, "The definition"); ' +
    "JSON in the environment",
  schema: z.array(MODEL),
  issuesWithin: givenModelsIssues,
  fromText: (text) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return text;
    }
  },
  default: { of: () => [], text: "the plugin's own" },
  description: "Models to add, to change or, with `enabled: false`, to leave out",
});

/**
 * The plugin's models as the operator changed them: changed ones in their place, new ones behind.
 *
 * @returns the issues, a line each, in place of models that cannot be used
 */
export function withGivenModels(
  definition: Pick<ProviderDefinition, "id" | "models" | "checkModel">,
  given: readonly GivenModel[],
): { readonly models: readonly ProviderModel[]; readonly issues: readonly string[] } {
  const issues: string[] = [];
  const own = new Map(definition.models.map((model) => [model.id, model]));
  const result = new Map(own);
  for (const { id, enabled = true, requestOptions, ...changes } of given) {
    if (!enabled) {
      result.delete(id);
      continue;
    }
    const model = complete(id, own.get(id), changes);
    if (typeof model === "string") {
      issues.push(`plugins.${definition.id}.models: ${id} ${model}`);
      continue;
    }
    result.set(id, model);
    if (requestOptions === undefined) continue;
    const declared = own.has(id) ? (own.get(id)?.requestOptions ?? {}) : null;
    const changed = withGivenOptions(declared, requestOptions);
    issues.push(...changed.issues.map((issue) => `plugins.${definition.id}.models: ${id} ${issue}`));
    if (changed.issues.length === 0) result.set(id, { ...model, requestOptions: changed.options });
  }
  for (const model of result.values()) {
    const its = `plugins.${definition.id}: its model ${JSON.stringify(model.id)}`;
    const ofModel = oneModelIssues({ ...model });
    issues.push(...ofModel.map((issue) => `${its}: ${issue}`));
    const issue = ofModel.length === 0 ? (definition.checkModel?.(model) ?? null) : null;
    if (issue !== null) issues.push(`${its} ${issue}`);
  }
  return { models: [...result.values()], issues };
}

/** The model, or what it lacks. */
function complete(
  id: string,
  own: ProviderModel | undefined,
  changes: Omit<GivenModel, "id" | "enabled" | "requestOptions">,
): ProviderModel | string {
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  if (own !== undefined) return { ...own, ...given };
  const { name, creditCost } = changes;
  if (name === undefined || creditCost === undefined)
    return "is not one of the plugin's: it needs a `name` and a `creditCost`";
  return { supportsLyrics: false, supportsInstrumental: true, duration: null, ...given, id, name, creditCost };
}
