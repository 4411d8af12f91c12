import { STANDARD_OPTIONS } from "../sdk/index.js";
import type { ProviderModel, ReferenceModes, RequestOption, RequestOptions } from "../sdk/index.js";

/** With either version, also to extend; a second song of one request costs half as much again. */
export const CREDITS_PER_SONG = 100;

/** A file of this size has 40 MB in base64, the API's limit. */
const SOURCE_MAX_BYTES = 30_000_000;

const COST = { amount: CREDITS_PER_SONG, unit: "credits" } as const;

const REFERENCES = {
  extend: { sources: "any", maxBytes: SOURCE_MAX_BYTES, upstreamCost: COST },
} as const satisfies ReferenceModes;

const MODEL = {
  creditCost: 10,
  supportsLyrics: true,
  supportsInstrumental: true,
  upstreamCost: COST,
  references: REFERENCES,
} as const;

const PROMPT_STRENGTH = {
  type: "number",
  minimum: 1.4,
  maximum: 3.1,
  description: "How closely the song follows the prompt: higher is stricter, lower more natural. 2 by default.",
} as const satisfies RequestOption;

/** The request options, by version. */
const REQUEST_OPTIONS = {
  v3: {
    prompt_strength: PROMPT_STRENGTH,
    negative_tags: {
      type: "string",
      maxLength: 500,
      description: "Tags that the song should not have, with commas between them; only tags that the provider knows.",
    },
  },
  v2: {
    seed: {
      ...STANDARD_OPTIONS.seed,
      description: "Start of what is random. The prompt is interpreted again for each song, so no result is identical.",
    },
    bpm: STANDARD_OPTIONS.bpm,
    prompt_strength: PROMPT_STRENGTH,
    balance_strength: {
      type: "number",
      minimum: 0,
      maximum: 1,
      description: "Higher: more natural vocals; lower: sharper instruments. 0.7 by default.",
    },
  },
} as const satisfies Readonly<Record<string, RequestOptions>>;

export const MODELS: readonly ProviderModel[] = [
  {
    ...MODEL,
    id: "sonauto/v3",
    name: "Melodia v3",
    upstream: "v3",
    duration: { minSeconds: 30, maxSeconds: 300, defaultSeconds: 150 },
    requestOptions: REQUEST_OPTIONS.v3,
  },
  {
    ...MODEL,
    id: "sonauto/v2",
    name: "Melodia v2 (deprecated there)",
    upstream: "v2",
    duration: null,
    requestOptions: REQUEST_OPTIONS.v2,
  },
];

/** Lengths of v3 are ranges, whose ends are multiples of this; the longest ends at ten of them. */
export const LENGTH_STEP_SECONDS = 30;
const LENGTH_MAX_SECONDS = 300;

/** The issue of a model that the operator configured; null when there is none. */
export function modelIssue(model: ProviderModel): string | null {
  const { upstream, duration, options = {} } = model;
  if (upstream !== "v2" && upstream !== "v3") return "needs `upstream`: v2 or v3";
  const { songs, ...unknown } = options;
  const [other] = Object.keys(unknown);
  if (other !== undefined) return `has options.${other}; allowed: songs`;
  const issue = upstream === "v2" ? v2Issue(duration, songs) : v3Issue(duration, songs);
  return issue ?? requestOptionsIssue(model, Object.keys(REQUEST_OPTIONS[upstream])) ?? referencesIssue(model);
}

function v2Issue(duration: ProviderModel["duration"], songs: unknown): string | null {
  if (duration !== null) return "has a `duration`; allowed: null, songs of v2 have about 95 seconds";
  return songs === undefined || songs === 1 || songs === 2 ? null : "has another options.songs than 1, 2";
}

function v3Issue(duration: ProviderModel["duration"], songs: unknown): string | null {
  if (songs !== undefined) return "has options.songs, which v2 alone takes";
  return duration !== null && duration.maxSeconds > LENGTH_MAX_SECONDS
    ? `has a \`duration\` of more than ${LENGTH_MAX_SECONDS} seconds`
    : null;
}

function requestOptionsIssue({ requestOptions = {} }: ProviderModel, allowed: readonly string[]): string | null {
  const unknown = Object.keys(requestOptions).find((name) => !allowed.includes(name));
  return unknown === undefined ? null : `has requestOptions.${unknown}; allowed: ${allowed.join(", ")}`;
}

function referencesIssue({ references = {} }: ProviderModel): string | null {
  const other = Object.keys(references).find((mode) => mode !== "extend");
  if (other !== undefined) return `has references.${other}; allowed: extend`;
  return references.extend?.takesStrength === true ? "has references.extend.takesStrength; they take none" : null;
}
