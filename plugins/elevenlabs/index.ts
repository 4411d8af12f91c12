import { defineProvider, PROVIDER_PORT_VERSION } from "../sdk/index.js";
import type { ProviderModel, SplitCapability } from "../sdk/index.js";
import { ElevenLabsProvider } from "./provider.js";
import { SETTINGS } from "./settings.js";

const MODEL = {
  supportsLyrics: true,
  supportsInstrumental: true,
  duration: { minSeconds: 3, maxSeconds: 600, defaultSeconds: 120 },
  promptMaxLength: 3_000,
};

/** A track goes up in one form, which is held in memory as a whole. */
const SPLIT: SplitCapability = { sources: "any", maxBytes: 100_000_000 };

/** Eleven Music: one call, and the music is its answer. */
export default defineProvider({
  id: "elevenlabs",
  label: "ElevenLabs",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 4,
  // Music with lyrics: a plan, then the music.
  longestCallMs: ({ timeoutMs }) => 2 * timeoutMs,
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
    },
    {
      ...MODEL,
      id: "elevenlabs/music-v2.5",
      name: "Eleven Music v2.5",
      creditCost: 15,
      upstream: "music_v2_5",
      lyricsMaxLength: 5_000,
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

function checkModel({ upstream, duration, options = {} }: ProviderModel): string | null {
  if (upstream === undefined) return "needs `upstream`: ElevenLabs' name of the model, such as music_v2";
  if (duration !== null && (duration.minSeconds < 3 || duration.maxSeconds > 600))
    return "has a `duration` outside 3 to 600 seconds";
  const [unknown] = Object.keys(options);
  return unknown === undefined ? null : `has options.${unknown}; allowed: none`;
}
