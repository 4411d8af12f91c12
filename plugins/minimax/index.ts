import { defineProvider, PROVIDER_PORT_VERSION } from "../sdk/index.js";
import type { ProviderModel } from "../sdk/index.js";
import { MiniMaxProvider } from "./provider.js";
import { SETTINGS } from "./settings.js";

const MODEL = {
  supportsLyrics: true,
  supportsInstrumental: true,
  duration: null,
  lyricsMaxLength: 3_500,
  promptMaxLength: 2_000,
};

/** MiniMax Music: one call, and the music is its response. */
export default defineProvider({
  id: "minimax",
  label: "MiniMax",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 4,
  longestCallMs: ({ timeoutMs }) => timeoutMs,
  hosts: [],
  settings: SETTINGS,
  models: [
    { ...MODEL, id: "minimax/music-3.0", name: "MiniMax Music 3.0", creditCost: 15, upstream: "music-3.0" },
    { ...MODEL, id: "minimax/music-2.6", name: "MiniMax Music 2.6", creditCost: 12, upstream: "music-2.6" },
    { ...MODEL, id: "minimax/music-2.5-plus", name: "MiniMax Music 2.5+", creditCost: 12, upstream: "music-2.5+" },
    // The switch for instrumental music came with 2.5+.
    {
      ...MODEL,
      id: "minimax/music-2.5",
      name: "MiniMax Music 2.5",
      creditCost: 10,
      upstream: "music-2.5",
      supportsInstrumental: false,
    },
    {
      ...MODEL,
      id: "minimax/music-2.0",
      name: "MiniMax Music 2.0",
      creditCost: 10,
      upstream: "music-2.0",
      supportsInstrumental: false,
    },
  ],
  checkModel,
  capabilities: { idempotentSubmit: false, lookup: false, cancel: false },
  create: (host) => new MiniMaxProvider(host),
});

function checkModel({ upstream, duration, options = {} }: ProviderModel): string | null {
  if (upstream === undefined) return "needs `upstream`: MiniMax's name of the model, such as music-3.0";
  if (duration !== null) return "has a `duration`; allowed: null, the length is the model's own";
  const [unknown] = Object.keys(options);
  return unknown === undefined ? null : `has options.${unknown}; allowed: none`;
}
