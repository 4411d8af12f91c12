import { OperationRefusedError } from "../../../core/errors.js";
import type { CallerApi, CallerModel } from "./caller-api.js";

/** What is asked of a model. */
export interface ModelDemand {
  readonly prompt: string;
  readonly lyrics?: string | undefined;
  readonly duration?: number | undefined;
  readonly instrumental?: boolean | undefined;
  readonly options: ReadonlyMap<string, string>;
}

/**
 * The model that is named, or else the cheapest available one that takes what is asked for; of equally cheap ones the
 * first of the list.
 *
 * @throws {OperationRefusedError} there is no such model; it names those that there are
 */
export async function chooseModel(api: CallerApi, id: string | undefined, demand: ModelDemand): Promise<CallerModel> {
  const models = await api.models();
  if (id !== undefined) {
    const named = models.find((model) => model.id === id);
    if (named !== undefined) return named;
    throw new OperationRefusedError(`There is no model ${id}; the server has: ${namesOf(models)}.`);
  }
  const available = models.filter(({ status }) => status === "available");
  const fitting = available.filter((model) => fits(model, demand));
  const [cheapest] = fitting.toSorted((one, other) => one.credit_cost - other.credit_cost);
  if (cheapest !== undefined) return cheapest;
  throw new OperationRefusedError(
    `No available model takes all of this; there are: ${namesOf(available)}. --model names one, and then says why not.`,
  );
}

function namesOf(models: readonly CallerModel[]): string {
  return models.map((model) => model.id).join(", ") || "none";
}

function fits(model: CallerModel, { prompt, lyrics, duration, instrumental = false, options }: ModelDemand): boolean {
  const { duration: bounds, prompt_max_length: promptMax, lyrics_max_length: lyricsMax } = model;
  const takesDuration =
    duration === undefined || (bounds !== undefined && duration >= bounds.minimum && duration <= bounds.maximum);
  const takesLyrics = lyrics === undefined || (model.supports_lyrics && lengthOf(lyrics) <= (lyricsMax ?? Infinity));
  const needsNoLyrics = lyrics !== undefined || instrumental || model.requires_lyrics !== true;
  return (
    takesDuration &&
    takesLyrics &&
    needsNoLyrics &&
    (!instrumental || model.supports_instrumental) &&
    lengthOf(prompt) <= (promptMax ?? Infinity) &&
    [...options.keys()].every((name) => model.options?.some((option) => option.name === name))
  );
}

/** In code points, as the API counts. */
function lengthOf(text: string): number {
  return [...text].length;
}
