import { defineProvider, PROVIDER_PORT_VERSION } from "../../core/ports/music-provider.js";
import type { ProviderModel } from "../../core/ports/music-provider.js";
import { FORMATS } from "./map.js";
import { BeatovenProvider } from "./provider.js";

/** Background music without voices, by beatoven.ai; every track comes with its stems. */
export default defineProvider({
  id: "beatoven",
  label: "Beatoven.ai",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 4,
  longestCallMs: ({ timeoutMs }) => Number(timeoutMs),
  hosts: [],
  settings: {
    apiKey: { type: "string", required: true, secret: true, description: "API token of the Beatoven.ai account" },
    baseUrl: { type: "string", default: "https://public-api.beatoven.ai", description: "Where the API is" },
    timeoutMs: { type: "integer", default: 60_000, minimum: 1_000, maximum: 600_000, description: "How long one call may take" },
    pollMs: { type: "integer", default: 5_000, minimum: 500, maximum: 600_000, description: "How often accepted work is asked after" },
  },
  models: [
    {
      id: "beatoven/track",
      name: "Beatoven",
      creditCost: 10,
      supportsLyrics: false,
      supportsInstrumental: true,
      // A length is words in the prompt, and which lengths there are is not documented.
      duration: null,
      options: { format: "mp3", looping: false },
    },
  ],
  checkModel,
  capabilities: { idempotentSubmit: false, lookup: false, cancel: false },
  create: (host) => new BeatovenProvider(host),
});

function checkModel({ supportsLyrics, options = {} }: ProviderModel): string | null {
  if (supportsLyrics) return "has `supportsLyrics`; allowed: false, there are no voices";
  const unknown = Object.keys(options).find((name) => name !== "format" && name !== "looping");
  if (unknown !== undefined) return `has options.${unknown}; allowed: format, looping`;
  const { format, looping } = options;
  if (format !== undefined && !FORMATS.includes(format as string)) return `has another options.format than ${FORMATS.join(", ")}`;
  if (looping !== undefined && typeof looping !== "boolean") return "has options.looping that is neither true nor false";
  return null;
}
