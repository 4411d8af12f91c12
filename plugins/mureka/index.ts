import { defineProvider, PROVIDER_PORT_VERSION, STANDARD_OPTIONS } from "../sdk/index.js";
import type { ProviderModel, SplitCapability } from "../sdk/index.js";
import { CONCURRENCY, MurekaProvider } from "./provider.js";
import { COVER, EXTEND, referencesIssue } from "./references.js";
import { SETTINGS } from "./settings.js";
import { readStemFiles } from "./stem-files.js";

/** Of a song's or an instrumental's description; one without lyrics may be longer there. */
const PROMPT_MAX_LENGTH = 1_024;
const LYRICS_MAX_LENGTH = 5_000;
const TRACKS_MAX = 3;

const MODEL = {
  creditCost: 12,
  supportsLyrics: true,
  supportsInstrumental: true,
  duration: null,
  lyricsMaxLength: LYRICS_MAX_LENGTH,
  promptMaxLength: PROMPT_MAX_LENGTH,
  requestOptions: {
    vocal_gender: {
      ...STANDARD_OPTIONS.vocal_gender,
      description: "Voice of the singer, as a preference. Songs take it, instrumentals, extensions and covers do not.",
    },
  },
};

const SPLIT: SplitCapability = { sources: "any", contentTypes: ["audio/mpeg", "audio/mp4"], maxBytes: 10_000_000 };

/** Mureka: songs with lyrics or without, and instrumentals. */
export default defineProvider({
  id: "mureka",
  label: "Mureka",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: CONCURRENCY,
  // A track is uploaded before the call that works from it.
  longestCallMs: ({ timeoutMs, stemTimeoutMs }, { sendsSource }) =>
    sendsSource ? Math.max(2 * timeoutMs, stemTimeoutMs) : timeoutMs,
  hosts: [],
  settings: SETTINGS,
  models: [
    {
      ...MODEL,
      id: "mureka/auto",
      name: "Mureka (auto)",
      upstream: "auto",
      references: { extend: EXTEND, cover: COVER },
    },
    { ...MODEL, id: "mureka/v9.5", name: "Mureka 9.5", upstream: "mureka-9.5" },
    { ...MODEL, id: "mureka/v9", name: "Mureka 9", upstream: "mureka-9" },
    {
      ...MODEL,
      id: "mureka/v8",
      name: "Mureka 8",
      upstream: "mureka-8",
      references: { extend: EXTEND, cover: COVER },
    },
    { ...MODEL, id: "mureka/v7.6", name: "Mureka 7.6", upstream: "mureka-7.6", references: { extend: EXTEND } },
    { ...MODEL, id: "mureka/o2", name: "Mureka O2", upstream: "mureka-o2", supportsInstrumental: false },
  ],
  checkModel,
  capabilities: (settings) => {
    const files = readStemFiles(settings);
    const removesVocals = files !== null && files.has("vocals") && files.has("instrumental");
    return {
      idempotentSubmit: false,
      lookup: false,
      cancel: false,
      ...(files === null ? {} : { stemSplit: SPLIT }),
      ...(removesVocals ? { vocalRemoval: SPLIT } : {}),
    };
  },
  create: (host) => new MurekaProvider(host),
});

function checkModel(model: ProviderModel): string | null {
  const { upstream, duration, promptMaxLength, supportsInstrumental, requestOptions = {} } = model;
  if (upstream === undefined) return "needs `upstream`: Mureka's name of the model, such as mureka-9";
  if (upstream === "mureka-o2" && supportsInstrumental)
    return "has `supportsInstrumental`; mureka-o2 makes no instrumentals";
  if (duration !== null) return "has a `duration`; allowed: null, the length is the model's own";
  if (promptMaxLength === undefined || promptMaxLength > PROMPT_MAX_LENGTH)
    return `needs a \`promptMaxLength\` of at most ${PROMPT_MAX_LENGTH}`;
  const unknown = Object.keys(requestOptions).find((name) => !Object.hasOwn(MODEL.requestOptions, name));
  if (unknown !== undefined) return `has requestOptions.${unknown}; allowed: vocal_gender`;
  return optionsIssue(model) ?? referencesIssue(model);
}

function optionsIssue({ options = {} }: ProviderModel): string | null {
  const { tracks, ...unknown } = options;
  if (Object.hasOwn(unknown, "gender"))
    return "has options.gender; it is a request option now: requestOptions: { vocal_gender: { default: female } }";
  const [other] = Object.keys(unknown);
  if (other !== undefined) return `has options.${other}; allowed: tracks`;
  const isCount = typeof tracks === "number" && Number.isSafeInteger(tracks) && tracks >= 1 && tracks <= TRACKS_MAX;
  return tracks === undefined || isCount ? null : `has another options.tracks than 1 to ${TRACKS_MAX}`;
}
