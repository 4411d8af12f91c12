import { STANDARD_OPTIONS } from "../sdk/index.js";
import type { ProviderModel, RequestOptions } from "../sdk/index.js";

const PROMPT_MAX_LENGTH = 1_000;
const LYRICS_MAX_LENGTH = 5_000;

/** The request options; sent for tracks with a voice. */
const REQUEST_OPTIONS = {
  vocal_gender: STANDARD_OPTIONS.vocal_gender,
} as const satisfies RequestOptions;

const MODEL = {
  supportsLyrics: true,
  supportsInstrumental: true,
  duration: null,
  promptMaxLength: PROMPT_MAX_LENGTH,
  lyricsMaxLength: LYRICS_MAX_LENGTH,
  requestOptions: REQUEST_OPTIONS,
} as const;

export const MODELS: readonly ProviderModel[] = [
  { ...MODEL, id: "musicgpt/v6", name: "MusicGPT v6", creditCost: 10, upstream: "v6" },
  { ...MODEL, id: "musicgpt/v6-pro", name: "MusicGPT v6 Pro", creditCost: 12, upstream: "v6-pro" },
  { ...MODEL, id: "musicgpt/v7", name: "MusicGPT v7", creditCost: 12, upstream: "v7" },
  { ...MODEL, id: "musicgpt/v7-pro", name: "MusicGPT v7 Pro", creditCost: 15, upstream: "v7-pro" },
];

/** The issue of a model that the operator configured; null when there is none. */
export function modelIssue(model: ProviderModel): string | null {
  const { upstream, duration, promptMaxLength, lyricsMaxLength, supportsLyrics } = model;
  const { options = {}, requestOptions = {} } = model;
  if (upstream === undefined) return "needs `upstream`: MusicGPT's name of the model, such as v7";
  if (duration !== null) return "has a `duration`; allowed: null, the length is the model's own";
  if (promptMaxLength === undefined || promptMaxLength > PROMPT_MAX_LENGTH)
    return `needs a \`promptMaxLength\` of at most ${PROMPT_MAX_LENGTH}`;
  if (supportsLyrics && (lyricsMaxLength === undefined || lyricsMaxLength > LYRICS_MAX_LENGTH))
    return `needs a \`lyricsMaxLength\` of at most ${LYRICS_MAX_LENGTH}`;
  const [other] = Object.keys(options);
  if (other !== undefined) return `has options.${other}; allowed: none`;
  const allowed = Object.keys(REQUEST_OPTIONS);
  const unknown = Object.keys(requestOptions).find((name) => !allowed.includes(name));
  return unknown === undefined ? null : `has requestOptions.${unknown}; allowed: ${allowed.join(", ")}`;
}
