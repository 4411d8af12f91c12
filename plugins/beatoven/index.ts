import { defineProvider, PROVIDER_PORT_VERSION } from "../sdk/index.js";
import type { ProviderModel } from "../sdk/index.js";
import { FORMATS } from "./map.js";
import { BeatovenProvider } from "./provider.js";
import { SETTINGS } from "./settings.js";

/** Background music without voices, by beatoven.ai; every track comes with its stems. */
export default defineProvider({
  id: "beatoven",
  label: "Beatoven.ai",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 4,
  longestCallMs: ({ timeoutMs }) => timeoutMs,
  hosts: [],
  settings: SETTINGS,
  models: [
    {
      id: "beatoven/track",
      name: "Beatoven",
      creditCost: 10,
      supportsLyrics: false,
      supportsInstrumental: true,
      // The prompt names the length, and the possible lengths are not documented.
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
  if (format !== undefined && !FORMATS.includes(format as string))
    return `has another options.format than ${FORMATS.join(", ")}`;
  if (looping !== undefined && typeof looping !== "boolean")
    return "has options.looping that is neither true nor false";
  return null;
}
