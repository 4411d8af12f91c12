import { computed, effect, signal } from "@preact/signals";
import type { GenerationRequest, Model, ModelOption } from "../api.js";
import { draft, keepDraft } from "../music/memory.js";

export type OptionValue = string | number | boolean;

const DURATION_SECONDS = 30;

const kept = draft() ?? {};

export const models = signal<readonly Model[]>([]);
export const modelId = signal(text(kept["modelId"]));
export const prompt = signal(text(kept["prompt"]));
export const lyrics = signal(text(kept["lyrics"]));
/** Whether there is to be no voice, where the model leaves the choice. */
export const isInstrumental = signal(kept["isInstrumental"] === true);
export const duration = signal(typeof kept["duration"] === "number" ? kept["duration"] : DURATION_SECONDS);
/** By name; those that are not given are the provider's. */
export const options = signal<Readonly<Record<string, OptionValue>>>(
  (kept["options"] as Readonly<Record<string, OptionValue>> | undefined) ?? {},
);

effect(() =>
  keepDraft({
    modelId: modelId.value,
    prompt: prompt.value,
    lyrics: lyrics.value,
    isInstrumental: isInstrumental.value,
    duration: duration.value,
    options: options.value,
  }),
);

/** The one that was chosen, or else the first that can be had. */
export const model = computed<Model | undefined>(() => {
  const all = models.value;
  const chosen = all.find(({ id }) => id === modelId.value);
  return chosen ?? all.find(({ status }) => status === "available") ?? all[0];
});

/** Whether there is a choice between a voice and none. */
export function leavesChoice({ supports_lyrics: sings, supports_instrumental: plays }: Model): boolean {
  return sings && plays;
}

export function takesLyrics(chosen: Model): boolean {
  return chosen.supports_lyrics && !(leavesChoice(chosen) && isInstrumental.value);
}

/** The chosen length, within what the model takes. */
export function secondsFor({ duration: bounds }: Model): number | null {
  return bounds === undefined ? null : Math.min(bounds.maximum, Math.max(bounds.minimum, duration.value));
}

/** What the form asks for; null while no model is known. */
export const request = computed<GenerationRequest | null>(() => {
  const chosen = model.value;
  if (chosen === undefined) return null;
  const seconds = secondsFor(chosen);
  const words = lyrics.value.trim();
  const given = Object.fromEntries(
    chosen.options.flatMap(({ name }) => {
      const value = options.value[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return {
    model_id: chosen.id,
    prompt: prompt.value.trim(),
    ...(takesLyrics(chosen) && words !== "" ? { lyrics: words } : {}),
    ...(seconds === null ? {} : { duration: seconds }),
    ...(leavesChoice(chosen) && isInstrumental.value ? { instrumental: true } : {}),
    ...(Object.keys(given).length === 0 ? {} : { options: given }),
  };
});

/** Fills the form with what was asked for before. */
export function useRequest(earlier: GenerationRequest): void {
  modelId.value = earlier.model_id;
  prompt.value = earlier.prompt;
  lyrics.value = earlier.lyrics ?? "";
  isInstrumental.value = earlier.instrumental === true;
  if (earlier.duration !== undefined) duration.value = earlier.duration;
  options.value = (earlier.options as Record<string, OptionValue> | undefined) ?? {};
}

/** As it is for a newcomer. */
export function clearForm(): void {
  useRequest({ model_id: "", prompt: "", duration: DURATION_SECONDS });
}

/** @param value undefined: it is left to the provider */
export function setOption(name: string, value: OptionValue | undefined): void {
  const { [name]: _old, ...others } = options.value;
  options.value = value === undefined ? others : { ...others, [name]: value };
}

/** What stands against the form, by field; empty when it can be sent. */
export const issues = computed<Readonly<Record<string, string>>>(() => {
  const chosen = model.value;
  const asked = request.value;
  if (chosen === undefined || asked === null) return {};
  const found: Record<string, string> = {};
  const length = (value: string): number => [...value].length;
  if (asked.prompt === "") found["prompt"] = "Say what the music should be like.";
  else if (length(asked.prompt) > chosen.prompt_max_length)
    found["prompt"] = `At most ${chosen.prompt_max_length} characters; these are ${length(asked.prompt)}.`;
  if (takesLyrics(chosen)) {
    if (asked.lyrics === undefined && chosen.requires_lyrics) found["lyrics"] = "This model needs words to sing.";
    else if (length(asked.lyrics ?? "") > chosen.lyrics_max_length)
      found["lyrics"] = `At most ${chosen.lyrics_max_length} characters; these are ${length(asked.lyrics ?? "")}.`;
  }
  for (const option of chosen.options) {
    const issue = issueOf(option, options.value[option.name]);
    if (issue !== null) found[`options.${option.name}`] = issue;
  }
  return found;
});

function issueOf(
  { type, minimum, maximum, max_length: longest }: ModelOption,
  value: OptionValue | undefined,
): string | null {
  if (typeof value === "number") {
    if (type === "integer" && !Number.isInteger(value)) return "A whole number.";
    if ((minimum !== undefined && value < minimum) || (maximum !== undefined && value > maximum))
      return `${minimum} to ${maximum}.`;
  }
  if (typeof value === "string" && longest !== undefined && [...value].length > longest)
    return `At most ${longest} characters.`;
  return null;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
