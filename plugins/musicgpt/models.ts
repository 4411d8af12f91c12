import type { ProviderModel } from "../sdk/index.js";

const PROMPT_MAX_LENGTH = 1_000;
const LYRICS_MAX_LENGTH = 5_000;
const GENDERS: readonly unknown[] = ["male", "female", "neutral"];

const MODEL = {
  supportsLyrics: true,
  supportsInstrumental: true,
  duration: null,
  promptMaxLength: PROMPT_MAX_LENGTH,
  lyricsMaxLength: LYRICS_MAX_LENGTH,
} as const;

export const MODELS: readonly ProviderModel[] = [
  { ...MODEL, id: "musicgpt/v6", name: "MusicGPT v6", creditCost: 10, upstream: "v6" },
  { ...MODEL, id: "musicgpt/v6-pro", name: "MusicGPT v6 Pro", creditCost: 12, upstream: "v6-pro" },
  { ...MODEL, id: "musicgpt/v7", name: "MusicGPT v7", creditCost: 12, upstream: "v7" },
  { ...MODEL, id: "musicgpt/v7-pro", name: "MusicGPT v7 Pro", creditCost: 15, upstream: "v7-pro" },
];

/** What is wrong with a model of the operator's; null when nothing is. */
export function modelIssue(model: ProviderModel): string | null {
  const { upstream, duration, promptMaxLength, lyricsMaxLength, supportsLyrics, options = {} } = model;
  if (upstream === undefined) return "needs `upstream`: MusicGPT's name of the model, such as v7";
  if (duration !== null) return "has a `duration`; allowed: null, the length is the model's own";
  if (promptMaxLength === undefined || promptMaxLength > PROMPT_MAX_LENGTH)
    return `needs a \`promptMaxLength\` of at most ${PROMPT_MAX_LENGTH}`;
  if (supportsLyrics && (lyricsMaxLength === undefined || lyricsMaxLength > LYRICS_MAX_LENGTH))
    return `needs a \`lyricsMaxLength\` of at most ${LYRICS_MAX_LENGTH}`;
  const { gender, ...unknown } = options;
  const [other] = Object.keys(unknown);
  if (other !== undefined) return `has options.${other}; allowed: gender`;
  return gender === undefined || GENDERS.includes(gender)
    ? null
    : `has another options.gender than ${GENDERS.join(", ")}`;
}
