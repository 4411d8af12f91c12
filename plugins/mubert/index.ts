import { defineProvider, PROVIDER_PORT_VERSION } from "../../core/ports/music-provider.js";
import type { ProviderModel } from "../../core/ports/music-provider.js";
import { DURATION_MIN_SECONDS, OPTIONS, PROMPT_MAX_LENGTH } from "./map.js";
import { MubertProvider } from "./provider.js";

/** Instrumental tracks of a description, by mubert.com: made for a customer of the operator's licence. */
export default defineProvider({
  id: "mubert",
  label: "Mubert",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 4,
  // The customer's token, then the call itself.
  longestCallMs: ({ timeoutMs }) => 2 * Number(timeoutMs),
  hosts: [],
  settings: {
    companyId: { type: "string", required: true, description: "Id of the company that has the licence" },
    licenseToken: { type: "string", required: true, secret: true, description: "Token of the licence" },
    customId: {
      type: "string",
      default: "fermata",
      description: "Name of the customer that tracks are made for; made there when it is first needed",
    },
    baseUrl: { type: "string", default: "https://music-api.mubert.com", description: "Where the API is" },
    timeoutMs: { type: "integer", default: 60_000, minimum: 1_000, maximum: 600_000, description: "How long one call may take" },
    pollMs: { type: "integer", default: 5_000, minimum: 500, maximum: 600_000, description: "How often accepted work is asked after" },
  },
  models: [
    {
      id: "mubert/track",
      name: "Mubert",
      creditCost: 10,
      supportsLyrics: false,
      supportsInstrumental: true,
      // The longest is the licence's; this one is ours.
      duration: { minSeconds: DURATION_MIN_SECONDS, maxSeconds: 300, defaultSeconds: 60 },
      promptMaxLength: PROMPT_MAX_LENGTH,
      options: { mode: "track", format: "mp3", bitrate: 320 },
    },
  ],
  checkModel,
  capabilities: { idempotentSubmit: false, lookup: false, cancel: false },
  create: (host) => new MubertProvider(host),
});

function checkModel({ supportsLyrics, duration, promptMaxLength, options = {} }: ProviderModel): string | null {
  if (supportsLyrics) return "has `supportsLyrics`; allowed: false, there are no voices";
  if (duration === null || duration.minSeconds < DURATION_MIN_SECONDS)
    return `needs a \`duration\` of at least ${DURATION_MIN_SECONDS} seconds: it is never left out there`;
  if (promptMaxLength === undefined || promptMaxLength > PROMPT_MAX_LENGTH)
    return `needs a \`promptMaxLength\` of at most ${PROMPT_MAX_LENGTH}`;
  for (const [name, value] of Object.entries(options)) {
    const allowed = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined;
    if (allowed === undefined) return `has options.${name}; allowed: ${Object.keys(OPTIONS).join(", ")}`;
    if (!allowed.includes(value as string | number)) return `has another options.${name} than ${allowed.join(", ")}`;
  }
  return null;
}
