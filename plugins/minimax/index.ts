import { defineProvider, PROVIDER_PORT_VERSION } from "../../core/ports/music-provider.js";
import type { ProviderModel, ProviderSetting } from "../../core/ports/music-provider.js";
import { MiniMaxProvider } from "./provider.js";

const SETTINGS: Readonly<Record<string, ProviderSetting>> = {
  apiKey: { type: "string", required: true, secret: true, description: "API key of the platform; it holds for one region only" },
  baseUrl: {
    type: "string",
    default: "https://api.minimax.io",
    description: "Where the API of the key's region is, without a slash at its end; of the mainland: https://api.minimaxi.com",
  },
  audioFormat: { type: "string", default: "mp3", allowed: ["mp3", "wav"], description: "Kind of file" },
  delivery: {
    type: "string",
    default: "url",
    allowed: ["url", "hex"],
    description: "How the file comes: as a link that lives for a day, or inside the answer",
  },
  timeoutMs: {
    type: "integer",
    default: 300_000,
    minimum: 1_000,
    maximum: 1_800_000,
    description: "How long one call may take; the music comes in the answer, after minutes",
  },
};

const MODEL = { supportsLyrics: true, supportsInstrumental: true, duration: null, lyricsMaxLength: 3_500, promptMaxLength: 2_000 };

/** MiniMax Music: one call, and the music is its answer. */
export default defineProvider({
  id: "minimax",
  label: "MiniMax",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 4,
  longestCallMs: ({ timeoutMs }) => Number(timeoutMs),
  hosts: [],
  settings: SETTINGS,
  models: [
    { ...MODEL, id: "minimax/music-3.0", name: "MiniMax Music 3.0", creditCost: 15, upstream: "music-3.0" },
    { ...MODEL, id: "minimax/music-2.6", name: "MiniMax Music 2.6", creditCost: 12, upstream: "music-2.6" },
    { ...MODEL, id: "minimax/music-2.5-plus", name: "MiniMax Music 2.5+", creditCost: 12, upstream: "music-2.5+" },
    // The switch for instrumental music came with 2.5+.
    { ...MODEL, id: "minimax/music-2.5", name: "MiniMax Music 2.5", creditCost: 10, upstream: "music-2.5", supportsInstrumental: false },
    { ...MODEL, id: "minimax/music-2.0", name: "MiniMax Music 2.0", creditCost: 10, upstream: "music-2.0", supportsInstrumental: false },
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
