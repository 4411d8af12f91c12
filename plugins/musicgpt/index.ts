import { defineProvider, PROVIDER_PORT_VERSION } from "../sdk/index.js";
import { modelIssue, MODELS } from "./models.js";
import { MusicGptProvider } from "./provider.js";
import { SETTINGS } from "./settings.js";

/** MusicGPT: songs with lyrics or without, and instrumentals; two of each request. */
export default defineProvider({
  id: "musicgpt",
  label: "MusicGPT",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 2,
  // Of an account without a plan; 5 or 10 with one.
  maxInFlight: 1,
  longestCallMs: ({ timeoutMs }) => timeoutMs,
  hosts: [],
  settings: SETTINGS,
  models: MODELS,
  checkModel: modelIssue,
  capabilities: { idempotentSubmit: false, lookup: false, cancel: false, callbacks: "hints" },
  create: (host) => new MusicGptProvider(host),
});
