import { defineProvider, PROVIDER_PORT_VERSION } from "../sdk/index.js";
import type { ProviderModel } from "../sdk/index.js";
import { LyriaProvider } from "./provider.js";
import { APIS, isInBackground, SETTINGS } from "./settings.js";
import { TOKEN_TIMEOUT_MS } from "./token.js";

const SUNG = { supportsLyrics: true, supportsInstrumental: true, duration: null, options: { api: "gemini" } };

/** What a model may have in its `options`, by its API. */
const OPTIONS: Readonly<Record<(typeof APIS)[number], readonly string[]>> = {
  gemini: ["api", "format"],
  vertex: ["api", "sampleCount", "negativePrompt"],
};

/** Google's Lyria on the Gemini API, where work is polled, and on Vertex AI, where one call responds with the music. */
export default defineProvider({
  id: "lyria",
  label: "Google Lyria",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 4,
  // An access token for Vertex AI, then the music.
  longestCallMs: ({ timeoutMs }) => TOKEN_TIMEOUT_MS + timeoutMs,
  // Vertex AI as the location has it, and the tokens.
  hosts: ["*.googleapis.com"],
  settings: SETTINGS,
  models: [
    { ...SUNG, id: "lyria/3.5", name: "Lyria 3.5", creditCost: 15, upstream: "lyria-3.5" },
    { ...SUNG, id: "lyria/3-pro", name: "Lyria 3 Pro", creditCost: 15, upstream: "lyria-3-pro-preview" },
    { ...SUNG, id: "lyria/3-clip", name: "Lyria 3 Clip", creditCost: 10, upstream: "lyria-3-clip-preview" },
    {
      id: "lyria/2",
      name: "Lyria 2",
      creditCost: 10,
      supportsLyrics: false,
      supportsInstrumental: true,
      duration: null,
      upstream: "lyria-002",
      options: { api: "vertex", sampleCount: 1 },
    },
  ],
  checkModel,
  capabilities: (settings) => ({ idempotentSubmit: false, lookup: false, cancel: isInBackground(settings) }),
  create: (host) => new LyriaProvider(host),
});

function checkModel({ upstream, duration, supportsLyrics, options = {} }: ProviderModel): string | null {
  const { api, format, sampleCount, negativePrompt } = options;
  if (upstream === undefined) return "needs `upstream`: Google's name of the model, such as lyria-3.5";
  if (duration !== null) return "has a `duration`; allowed: null, the length is fixed or asked for in the prompt";
  if (api !== "gemini" && api !== "vertex") return `needs options.api; allowed: ${APIS.join(", ")}`;
  const unknown = Object.keys(options).find((name) => !OPTIONS[api].includes(name));
  if (unknown !== undefined) return `has options.${unknown}; allowed for ${api}: ${OPTIONS[api].join(", ")}`;
  if (api === "vertex" && supportsLyrics) return "supports lyrics; Lyria on Vertex AI sings none";
  if (format !== undefined && format !== "mp3" && format !== "wav") return "has another options.format than mp3, wav";
  if (sampleCount !== undefined && !(Number.isSafeInteger(sampleCount) && (sampleCount as number) >= 1))
    return "has another options.sampleCount than a whole number from 1";
  return negativePrompt === undefined || typeof negativePrompt === "string"
    ? null
    : "has options.negativePrompt that is no text";
}
