import { defineProvider, PROVIDER_PORT_VERSION } from "../../core/ports/music-provider.js";
import type { DurationBounds, ProviderModel } from "../../core/ports/music-provider.js";
import { LIMITS_TIMEOUT_MS } from "./client.js";
import { LoudlyProvider } from "./provider.js";

/** What they take; the default is ours. */
const DURATION: DurationBounds = { minSeconds: 30, maxSeconds: 420, defaultSeconds: 60 };

/** Instrumental songs of a description, by loudly.com: one call, answered when the song is there. */
export default defineProvider({
  id: "loudly",
  label: "Loudly",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 2,
  longestCallMs: ({ timeoutMs }) => Math.max(Number(timeoutMs), LIMITS_TIMEOUT_MS),
  hosts: [],
  settings: {
    apiKey: { type: "string", required: true, secret: true, description: "API key of the Loudly account" },
    baseUrl: { type: "string", default: "https://soundtracks.loudly.com", description: "Where the API is" },
    timeoutMs: {
      type: "integer",
      default: 300_000,
      minimum: 1_000,
      maximum: 3_600_000,
      description: "How long the call that makes a song may take: longer than the work",
    },
  },
  models: [
    { id: "loudly/song", name: "Loudly", creditCost: 10, supportsLyrics: false, supportsInstrumental: true, duration: DURATION },
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
