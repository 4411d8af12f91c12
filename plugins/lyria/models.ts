import { STANDARD_OPTIONS } from "../sdk/index.js";
import type { ProviderModel, RequestOptions } from "../sdk/index.js";
import { APIS } from "./settings.js";

const SUNG = { supportsLyrics: true, supportsInstrumental: true, duration: null, options: { api: "gemini" } };

/** The request options on Vertex AI. On the Gemini API the prompt carries everything. */
const VERTEX_REQUEST_OPTIONS = {
  // The bounds are not documented; those of Lyria RealTime's seed fit a signed number of 32 bits.
  seed: { ...STANDARD_OPTIONS.seed, maximum: 2_147_483_647 },
  negative_prompt: STANDARD_OPTIONS.negative_prompt,
} as const satisfies RequestOptions;

export const MODELS: readonly ProviderModel[] = [
  { ...SUNG, id: "lyria/3.5", name: "Lyria 3.5", creditCost: 15, upstream: "lyria-3.5" },
  { ...SUNG, id: "lyria/3-pro", name: "Lyria 3 Pro", creditCost: 15, upstream: "lyria-3-pro-preview" },
  { ...SUNG, id: "lyria/3-clip", name: "Lyria 3 Clip", creditCost: 10, upstream: "lyria-3-clip-preview" },
  {
    id: "lyria/2",
    name: "Lyria 2",
    creditCost: 10,
    supportsLyrics: false,
    supportsInstrumental: true,
    duration: null,
    upstream: "lyria-002",
    requestOptions: VERTEX_REQUEST_OPTIONS,
    options: { api: "vertex", sampleCount: 1 },
  },
];

type Api = (typeof APIS)[number];

/** What a model may have in its `options`, by its API. */
const OPTIONS: Readonly<Record<Api, readonly string[]>> = {
  gemini: ["api", "format"],
  vertex: ["api", "sampleCount"],
};

/** The issue of a model that the operator configured; null when there is none. */
export function modelIssue(model: ProviderModel): string | null {
  const { upstream, duration, supportsLyrics, options = {} } = model;
  const { api, format, sampleCount } = options;
  if (upstream === undefined) return "needs `upstream`: Google's name of the model, such as lyria-3.5";
  if (duration !== null) return "has a `duration`; allowed: null, the length is fixed or asked for in the prompt";
  if (api !== "gemini" && api !== "vertex") return `needs options.api; allowed: ${APIS.join(", ")}`;
  const unknown = Object.keys(options).find((name) => !OPTIONS[api].includes(name));
  if (unknown !== undefined) return `has options.${unknown}; allowed for ${api}: ${OPTIONS[api].join(", ")}`;
  if (api === "vertex" && supportsLyrics) return "supports lyrics; Lyria on Vertex AI sings none";
  if (format !== undefined && format !== "mp3" && format !== "wav") return "has another options.format than mp3, wav";
  if (sampleCount !== undefined && !(Number.isSafeInteger(sampleCount) && (sampleCount as number) >= 1))
    return "has another options.sampleCount than a whole number from 1";
  return requestOptionsIssue(model, api, (sampleCount ?? 1) as number);
}

/** On Vertex AI `seed` and `sample_count` exclude each other. */
function requestOptionsIssue({ requestOptions = {} }: ProviderModel, api: Api, sampleCount: number): string | null {
  const names = Object.keys(requestOptions);
  const allowed = api === "vertex" ? Object.keys(VERTEX_REQUEST_OPTIONS) : [];
  const unknown = names.find((name) => !allowed.includes(name));
  if (unknown !== undefined)
    return `has requestOptions.${unknown}; allowed for ${api}: ${allowed.join(", ") || "none"}`;
  if (sampleCount === 1 || !names.includes("seed")) return null;
  return (
    `has options.sampleCount: ${sampleCount} and requestOptions.seed; Vertex AI takes one of the two: ` +
    "set sampleCount: 1, or remove the seed (requestOptions: { seed: false })"
  );
}
