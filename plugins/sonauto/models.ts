import type { ProviderModel } from "../sdk/index.js";

/** With either version; a second song of one request costs half as much again. */
export const CREDITS_PER_SONG = 100;

const MODEL = {
  creditCost: 10,
  supportsLyrics: true,
  supportsInstrumental: true,
  upstreamCost: { amount: CREDITS_PER_SONG, unit: "credits" },
} as const;

export const MODELS: readonly ProviderModel[] = [
  {
    ...MODEL,
    id: "sonauto/v3",
    name: "Melodia v3",
    upstream: "v3",
    duration: { minSeconds: 30, maxSeconds: 300, defaultSeconds: 150 },
  },
  { ...MODEL, id: "sonauto/v2", name: "Melodia v2 (deprecated there)", upstream: "v2", duration: null },
];

/** Lengths of v3 are ranges, whose ends are multiples of this; the longest ends at ten of them. */
export const LENGTH_STEP_SECONDS = 30;
const LENGTH_MAX_SECONDS = 300;

/** What is wrong with a model of the operator's; null when nothing is. */
export function modelIssue({ upstream, duration, options = {} }: ProviderModel): string | null {
  if (upstream !== "v2" && upstream !== "v3") return "needs `upstream`: v2 or v3";
  const { songs, negativeTags, ...unknown } = options;
  const [other] = Object.keys(unknown);
  if (other !== undefined) return `has options.${other}; allowed: negativeTags, songs`;
  return upstream === "v2" ? v2Issue(duration, songs, negativeTags) : v3Issue(duration, songs, negativeTags);
}

function v2Issue(duration: ProviderModel["duration"], songs: unknown, negativeTags: unknown): string | null {
  if (duration !== null) return "has a `duration`; allowed: null, songs of v2 have about 95 seconds";
  if (negativeTags !== undefined) return "has options.negativeTags, which v3 alone takes";
  return songs === undefined || songs === 1 || songs === 2 ? null : "has another options.songs than 1, 2";
}

function v3Issue(duration: ProviderModel["duration"], songs: unknown, negativeTags: unknown): string | null {
  if (songs !== undefined) return "has options.songs, which v2 alone takes";
  if (duration !== null && duration.maxSeconds > LENGTH_MAX_SECONDS)
    return `has a \`duration\` of more than ${LENGTH_MAX_SECONDS} seconds`;
  const areTags = Array.isArray(negativeTags) && negativeTags.every((tag) => typeof tag === "string" && tag !== "");
  return negativeTags === undefined || areTags ? null : "has options.negativeTags that are no list of texts";
}
