import { defineProvider, PROVIDER_PORT_VERSION } from "../sdk/index.js";
import { modelIssue, MODELS } from "./models.js";
import { LyriaProvider } from "./provider.js";
import { isInBackground, SETTINGS } from "./settings.js";
import { TOKEN_TIMEOUT_MS } from "./token.js";

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
  models: MODELS,
  checkModel: modelIssue,
  capabilities: (settings) => ({ idempotentSubmit: false, lookup: false, cancel: isInBackground(settings) }),
  create: (host) => new LyriaProvider(host),
});
