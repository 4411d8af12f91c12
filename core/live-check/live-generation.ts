import { OperationRefusedError } from "../errors.js";
import { MODEL_LIMITS, type MusicRequest, type ProviderCost, type ProviderModel } from "../ports/music-provider.js";
import { withDefaults } from "../providers/request-options.js";

/** The one generation that a live check buys. */
export interface LiveGeneration {
  readonly model: ProviderModel;
  readonly request: Pick<MusicRequest, "prompt" | "lyrics" | "durationSeconds" | "instrumental" | "options">;
  /** What one generation of the model is expected to cost at the provider; null when the plugin does not say. */
  readonly expectedCost: ProviderCost | null;
}

const PROMPT = "calm solo piano, slow, sparse";
const LYRICS = "[Verse]\nRain on the window\nSlow and low";

/**
 * Chooses the cheapest model, or the named one, and asks it for as little as it takes: its shortest duration, without
 * singing where that is possible, else with two lines of lyrics.
 *
 * @returns null for a provider without models, which makes no music
 * @throws {OperationRefusedError} the provider does not offer the named model
 */
export function liveGenerationOf(models: readonly ProviderModel[], modelId: string | null): LiveGeneration | null {
  const model = modelId === null ? cheapestOf(models) : models.find(({ id }) => id === modelId);
  if (model !== undefined) return { model, request: requestOf(model), expectedCost: model.upstreamCost ?? null };
  if (modelId === null) return null;
  const offered = models.length === 0 ? "it has none" : `allowed: ${models.map(({ id }) => id).join(", ")}`;
  throw new OperationRefusedError(`There is no model ${JSON.stringify(modelId)} of this plugin; ${offered}.`);
}

/** By what the provider charges where all models state it in one unit, else by what callers pay; then the shortest. */
function cheapestOf(models: readonly ProviderModel[]): ProviderModel | undefined {
  const units = new Set(models.map(({ upstreamCost }) => upstreamCost?.unit));
  const isComparable = units.size === 1 && !units.has(undefined);
  const price = ({ upstreamCost, creditCost }: ProviderModel): number =>
    isComparable ? (upstreamCost?.amount ?? 0) : creditCost;
  const seconds = ({ duration }: ProviderModel): number => duration?.minSeconds ?? MODEL_LIMITS.durationSeconds;
  return [...models].sort((a, b) => price(a) - price(b) || a.creditCost - b.creditCost || seconds(a) - seconds(b))[0];
}

function requestOf(model: ProviderModel): LiveGeneration["request"] {
  const instrumental = model.supportsInstrumental;
  const { promptMaxLength = MODEL_LIMITS.promptLength, lyricsMaxLength = MODEL_LIMITS.lyricsLength } = model;
  return {
    prompt: PROMPT.slice(0, promptMaxLength),
    lyrics: instrumental || !model.supportsLyrics ? null : LYRICS.slice(0, lyricsMaxLength),
    durationSeconds: model.duration?.minSeconds ?? null,
    instrumental,
    options: withDefaults(model, {}),
  };
}
