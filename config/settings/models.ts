/** Models as an operator names or changes them: `plugins.ID.models`. */
import { z } from "zod";
import type { ProviderDefinition, ProviderModel } from "../../core/ports/music-provider.js";
import { Leaf } from "./definition.js";
import { REQUEST_OPTIONS, withGivenOptions } from "./model-options.js";

const MODEL_ID = /^[a-z0-9][a-z0-9._-]*\/[a-z0-9][a-z0-9._-]*$/;
const MODEL_ID_LENGTH_MAX = 100;

/** As `jobs.renderDeadlineMinutes` has it: a week. */
const RENDER_DEADLINE_MAX_MINUTES = 10_080;
const USUAL_RENDER_MAX_SECONDS = 86_400;

const WHOLE = z.int().min(0);
const SECONDS = z.int().min(1).max(86_400);

const MODEL = z.strictObject({
  id: z.string().max(MODEL_ID_LENGTH_MAX).regex(MODEL_ID),
  enabled: z.boolean().optional(),
  name: z.string().min(1).max(200).optional(),
  creditCost: WHOLE.optional(),
  supportsLyrics: z.boolean().optional(),
  supportsInstrumental: z.boolean().optional(),
  requiresLyrics: z.boolean().optional(),
  duration: z.strictObject({ minSeconds: SECONDS, maxSeconds: SECONDS, defaultSeconds: SECONDS }).nullable().optional(),
  lyricsMaxLength: WHOLE.optional(),
  promptMaxLength: z.int().min(1).optional(),
  upstream: z.string().min(1).optional(),
  upstreamCost: z.strictObject({ amount: z.number().min(0), unit: z.string().min(1).max(20) }).optional(),
  renderDeadlineMinutes: z.number().positive().max(RENDER_DEADLINE_MAX_MINUTES).optional(),
  usualRenderSeconds: z.number().positive().max(USUAL_RENDER_MAX_SECONDS).optional(),
  requestOptions: REQUEST_OPTIONS.optional(),
  options: z.record(z.string(), z.unknown()).optional(),
});

/** A model of config: those members that are not as the plugin has them. */
export type GivenModel = z.infer<typeof MODEL>;

/** A list of models; as one text of the environment, JSON. */
export const models = new Leaf<readonly GivenModel[]>({
  type: "list of models",
  allowed: "a list of models, each with its `id` and the members to change (plugins/README.md, \"Models\"); JSON in the environment",
  schema: z.array(MODEL),
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
 * @returns what is wrong, a line each, in place of models that cannot be used
 */
export function withGivenModels(
  definition: Pick<ProviderDefinition, "id" | "models" | "checkModel">,
  given: readonly GivenModel[],
): { readonly models: readonly ProviderModel[]; readonly mistakes: readonly string[] } {
  const mistakes: string[] = [];
  const own = new Map(definition.models.map((model) => [model.id, model]));
  const result = new Map(own);
  for (const { id, enabled = true, requestOptions, ...changes } of given) {
    if (!enabled) {
      result.delete(id);
      continue;
    }
    const model = complete(id, own.get(id), changes);
    if (typeof model === "string") {
      mistakes.push(`plugins.${definition.id}.models: ${id} ${model}`);
      continue;
    }
    result.set(id, model);
    if (requestOptions === undefined) continue;
    const declared = own.has(id) ? (own.get(id)?.requestOptions ?? {}) : null;
    const changed = withGivenOptions(declared, requestOptions);
    mistakes.push(...changed.mistakes.map((mistake) => `plugins.${definition.id}.models: ${id} ${mistake}`));
    result.set(id, { ...model, requestOptions: changed.options });
  }
  for (const model of result.values()) {
    const mistake = checkModel(model) ?? definition.checkModel?.(model) ?? null;
    if (mistake !== null) mistakes.push(`plugins.${definition.id}: its model ${JSON.stringify(model.id)} ${mistake}`);
  }
  return { models: [...result.values()], mistakes };
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
  if (name === undefined || creditCost === undefined) return "is not one of the plugin's: it needs a `name` and a `creditCost`";
  return { supportsLyrics: false, supportsInstrumental: true, duration: null, ...given, id, name, creditCost };
}

function checkModel({ id, creditCost, duration, supportsLyrics, requiresLyrics }: ProviderModel): string | null {
  if (!MODEL_ID.test(id) || id.length > MODEL_ID_LENGTH_MAX) return "is not <provider>/<name> in lower case, at most 100 characters";
  if (!Number.isSafeInteger(creditCost) || creditCost < 0) return `costs ${creditCost}; allowed: a whole number of credits`;
  if (requiresLyrics === true && !supportsLyrics) return "requires lyrics, which it does not support";
  if (duration === null) return null;
  const { minSeconds, defaultSeconds, maxSeconds } = duration;
  return minSeconds <= defaultSeconds && defaultSeconds <= maxSeconds ? null : "has a default duration outside its own bounds";
}
