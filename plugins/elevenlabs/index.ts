import { defineProvider, PROVIDER_PORT_VERSION, STANDARD_OPTIONS } from "../sdk/index.js";
import type { ProviderModel, SplitCapability } from "../sdk/index.js";
import { ElevenLabsProvider } from "./provider.js";
import { REFERENCES, referencesIssue } from "./references.js";
import { SETTINGS } from "./settings.js";

const MODEL = {
  supportsLyrics: true,
  supportsInstrumental: true,
  duration: { minSeconds: 3, maxSeconds: 600, defaultSeconds: 120 },
  promptMaxLength: 3_000,
  requestOptions: {
    seed: {
      ...STANDARD_OPTIONS.seed,
      maximum: 2_147_483_647,
      description: "The same request with the same seed gives a similar result. Not for instrumental requests.",
    },
  },
};

/** The plugin uploads a track in one form, which it holds in memory. */
const SPLIT: SplitCapability = { sources: "any", maxBytes: 100_000_000 };

/** Eleven Music: one call, whose response is the music. */
export default defineProvider({
  id: "elevenlabs",
  label: "ElevenLabs",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 4,
  // Music from a track: a plan, an upload, then the music.
  longestCallMs: ({ timeoutMs }) => 3 * timeoutMs,
  hosts: [],
  settings: SETTINGS,
  models: [
    {
      ...MODEL,
      id: "elevenlabs/music-v2",
      name: "Eleven Music v2",
      creditCost: 15,
      upstream: "music_v2",
      lyricsMaxLength: 5_000,
      references: REFERENCES,
    },
    {
      ...MODEL,
      id: "elevenlabs/music-v2.5",
      name: "Eleven Music v2.5",
      creditCost: 15,
      upstream: "music_v2_5",
      lyricsMaxLength: 5_000,
      references: REFERENCES,
    },
    {
      ...MODEL,
      id: "elevenlabs/music-v1",
      name: "Eleven Music v1 (deprecated)",
      creditCost: 12,
      upstream: "music_v1",
      lyricsMaxLength: 3_000,
    },
  ],
  checkModel,
  capabilities: {
    idempotentSubmit: false,
    lookup: false,
    cancel: false,
    stemSplit: SPLIT,
    vocalRemoval: SPLIT,
  },
  create: (host) => new ElevenLabsProvider(host),
});

function checkModel(model: ProviderModel): string | null {
  const { upstream, duration, options = {} } = model;
  if (upstream === undefined) return "needs `upstream`: ElevenLabs' name of the model, such as music_v2";
  if (duration !== null && (duration.minSeconds < 3 || duration.maxSeconds > 600))
    return "has a `duration` outside 3 to 600 seconds";
  const [unknown] = Object.keys(options);
  return unknown === undefined ? referencesIssue(model) : `has options.${unknown}; allowed: none`;
}
