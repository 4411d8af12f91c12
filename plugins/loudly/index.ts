import { defineProvider, PROVIDER_PORT_VERSION } from "../sdk/index.js";
import type { DurationBounds, ProviderModel } from "../sdk/index.js";
import { LIMITS_TIMEOUT_MS } from "./client.js";
import { LoudlyProvider } from "./provider.js";
import { SETTINGS } from "./settings.js";

/** The API's bounds; the default is ours. */
const DURATION: DurationBounds = { minSeconds: 30, maxSeconds: 420, defaultSeconds: 60 };

/** Instrumental songs from a description, by loudly.com: one call, whose response is the song. */
export default defineProvider({
  id: "loudly",
  label: "Loudly",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 2,
  longestCallMs: ({ timeoutMs }) => Math.max(timeoutMs, LIMITS_TIMEOUT_MS),
  hosts: [],
  settings: SETTINGS,
  models: [
    {
      id: "loudly/song",
      name: "Loudly",
      creditCost: 10,
      supportsLyrics: false,
      supportsInstrumental: true,
      duration: DURATION,
    },
  ],
  checkModel,
  capabilities: { idempotentSubmit: false, lookup: false, cancel: false },
  create: (host) => new LoudlyProvider(host),
});

function checkModel({ supportsLyrics, duration, options = {} }: ProviderModel): string | null {
  if (supportsLyrics) return "has `supportsLyrics`; allowed: false, there are no voices";
  if (duration !== null && (duration.minSeconds < DURATION.minSeconds || duration.maxSeconds > DURATION.maxSeconds))
    return `has another \`duration\` than ${DURATION.minSeconds} to ${DURATION.maxSeconds} seconds`;
  const [unknown] = Object.keys(options);
  return unknown === undefined ? null : `has options.${unknown}; allowed: none`;
}
