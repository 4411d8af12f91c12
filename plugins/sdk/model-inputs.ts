import type { MusicRequest, ProviderModel } from "../../core/ports/music-provider.js";
import { isObject, type JsonObject } from "./json.js";

/** What a hosted model is called with: its own names, each with its value. */
export type ModelInputs = JsonObject;

/**
 * `options` of a model at a provider that hosts many (fal, Replicate): which of its inputs takes what, and where in its
 * output the files are.
 */
export interface InputTemplate {
  /** Input that takes the prompt. */
  readonly prompt: string;
  /** Input that takes the lyrics; needed where the model supports them. */
  readonly lyrics?: string;
  /** Input that takes the duration; needed where the model has one. */
  readonly duration?: string;
  /** Seconds by default. */
  readonly durationUnit?: "s" | "ms";
  /** Sent with every request. */
  readonly fixed?: ModelInputs;
  /** Sent with an instrumental request, in addition. */
  readonly instrumental?: ModelInputs;
  /** Sent, in addition, with a request that is not instrumental and has no lyrics. */
  readonly wordless?: ModelInputs;
  /** Path to the files in the output, with dots between its steps (`audio`, `result.0`); left out: the whole output. */
  readonly output?: string;
}

const NAMES = ["prompt", "lyrics", "duration", "output"] as const;
const INPUTS = ["fixed", "instrumental", "wordless"] as const;
const KNOWN: readonly string[] = [...NAMES, ...INPUTS, "durationUnit"];

/** What is wrong with the `options` of a model as an {@link InputTemplate}; null when nothing is. */
export function inputTemplateIssue({ options = {}, supportsLyrics, duration }: ProviderModel): string | null {
  const unknown = Object.keys(options).find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) return `options.${unknown}: there is no such option; allowed: ${KNOWN.join(", ")}`;
  for (const name of NAMES) {
    const value = options[name];
    if (value !== undefined && (typeof value !== "string" || value === "")) return `options.${name}: allowed: a name`;
  }
  for (const name of INPUTS) {
    const value = options[name];
    if (value !== undefined && !isObject(value))
      return `options.${name}: allowed: inputs of the model, each with its value`;
  }
  if (!["s", "ms", undefined].includes(options["durationUnit"] as string | undefined))
    return "options.durationUnit: allowed: s, ms";
  if (options["prompt"] === undefined)
    return "options.prompt: missing; allowed: the model's input that takes the prompt";
  if (supportsLyrics && options["lyrics"] === undefined)
    return "options.lyrics: missing; a model that supports lyrics has an input for them";
  if (duration !== null && options["duration"] === undefined)
    return "options.duration: missing; a model with a duration has an input for it";
  return null;
}

/** The template of a model that {@link inputTemplateIssue} found nothing wrong with. */
export function inputTemplateOf({ options }: ProviderModel): InputTemplate {
  return options as unknown as InputTemplate;
}

/** The inputs of one request, by its model's template; without a duration, the model's default is sent. */
export function inputsOf({ model, prompt, lyrics, durationSeconds, instrumental }: MusicRequest): ModelInputs {
  const template = inputTemplateOf(model);
  // Without one the model chooses for itself, and may bill for minutes.
  const seconds = durationSeconds ?? model.duration?.defaultSeconds ?? null;
  const factor = template.durationUnit === "ms" ? 1_000 : 1;
  return {
    ...template.fixed,
    [template.prompt]: prompt,
    ...(template.duration === undefined || seconds === null ? {} : { [template.duration]: seconds * factor }),
    ...(template.lyrics === undefined || lyrics === null ? {} : { [template.lyrics]: lyrics }),
    ...(instrumental ? template.instrumental : {}),
    ...(!instrumental && lyrics === null ? template.wordless : {}),
  };
}
