import { defineProvider, PROVIDER_PORT_VERSION } from "../sdk/index.js";
import type { ProviderModel } from "../sdk/index.js";
import { DURATION_MIN_SECONDS, OPTIONS, PROMPT_MAX_LENGTH } from "./map.js";
import { MubertProvider } from "./provider.js";
import { SETTINGS } from "./settings.js";

/** Instrumental tracks from a description, by mubert.com: created for a customer of the operator's licence. */
export default defineProvider({
  id: "mubert",
  label: "Mubert",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 4,
  // The customer's token, then the call itself.
  longestCallMs: ({ timeoutMs }) => 2 * timeoutMs,
  hosts: [],
  settings: SETTINGS,
  models: [
    {
      id: "mubert/track",
      name: "Mubert",
      creditCost: 10,
      supportsLyrics: false,
      supportsInstrumental: true,
      // The licence sets the longest track; this bound is ours.
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
