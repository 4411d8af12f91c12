import type { MusicRequest, ProviderModel } from "../../core/ports/music-provider.js";

export type Inputs = Readonly<Record<string, unknown>>;

/** `options` of a model: which of its inputs takes what, and where in its output the files are. */
export interface ModelOptions {
  /** Input that takes the prompt. */
  readonly prompt: string;
  /** Input that takes the lyrics; needed where the model supports them. */
  readonly lyrics?: string;
  /** Input that takes the duration; needed where the model has one. */
  readonly duration?: string;
  /** Seconds by default. */
  readonly durationUnit?: "s" | "ms";
  /** Sent with every request. */
  readonly fixed?: Inputs;
  /** Sent with an instrumental request beside the rest. */
  readonly instrumental?: Inputs;
  /** Sent with a request that is not instrumental and has no lyrics. */
  readonly wordless?: Inputs;
  /** Way to the files in the output, with points between its steps (`audio`, `result.0`); left out: the output itself. */
  readonly output?: string;
}

const NAMES = ["prompt", "lyrics", "duration", "output"] as const;
const INPUTS = ["fixed", "instrumental", "wordless"] as const;
const KNOWN: readonly string[] = [...NAMES, ...INPUTS, "durationUnit"];

/** What is wrong with a model's options; null when nothing is. */
export function optionsMistake({ options = {}, supportsLyrics, duration }: ProviderModel): string | null {
  const unknown = Object.keys(options).find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) return `options.${unknown}: there is no such option; allowed: ${KNOWN.join(", ")}`;
  for (const name of NAMES) {
    const value = options[name];
    if (value !== undefined && (typeof value !== "string" || value === "")) return `options.${name}: allowed: a name`;
  }
  for (const name of INPUTS) {
    const value = options[name];
    if (value !== undefined && !isInputs(value)) return `options.${name}: allowed: inputs of the model, each with its value`;
  }
  if (!["s", "ms", undefined].includes(options["durationUnit"] as string | undefined)) return "options.durationUnit: allowed: s, ms";
  if (options["prompt"] === undefined) return "options.prompt: missing; allowed: the model's input that takes the prompt";
  if (supportsLyrics && options["lyrics"] === undefined)
    return "options.lyrics: missing; a model that supports lyrics has an input for them";
  if (duration !== null && options["duration"] === undefined)
    return "options.duration: missing; a model with a duration has an input for it";
  return null;
}

export function optionsOf({ options }: ProviderModel): ModelOptions {
  // `checkModel` has looked at it.
  return options as unknown as ModelOptions;
}

/** The inputs of one request. */
export function inputOf({ model, prompt, lyrics, durationSeconds, instrumental }: MusicRequest): Inputs {
  const options = optionsOf(model);
  // Without one the model chooses for itself, and may bill for minutes.
  const seconds = durationSeconds ?? model.duration?.defaultSeconds ?? null;
  const factor = options.durationUnit === "ms" ? 1_000 : 1;
  return {
    ...options.fixed,
    [options.prompt]: prompt,
    ...(options.duration === undefined || seconds === null ? {} : { [options.duration]: seconds * factor }),
    ...(options.lyrics === undefined || lyrics === null ? {} : { [options.lyrics]: lyrics }),
    ...(instrumental ? options.instrumental : {}),
    ...(!instrumental && lyrics === null ? options.wordless : {}),
  };
}

function isInputs(value: unknown): value is Inputs {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
