import { PROVIDER_PORT_VERSION, defineProvider } from "../sdk/index.js";
import { LOOKUP_PAGES_MAX, MusicAiProvider } from "./provider.js";
import { SETTINGS, workflowFor } from "./settings.js";

/** Splits by workflows of music.ai (Moises). */
export default defineProvider({
  id: "musicai",
  label: "Music AI",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 2,
  // Of an account without a plan; 10 with a professional one.
  maxInFlight: 2,
  // An upload between two calls; or a lookup that reads all its pages.
  longestCallMs: ({ timeoutMs, uploadTimeoutMs }, { sendsSource }) =>
    sendsSource ? 2 * timeoutMs + uploadTimeoutMs : LOOKUP_PAGES_MAX * timeoutMs,
  // Their temporary storage, which the API names for an upload.
  hosts: ["storage.googleapis.com"],
  settings: SETTINGS,
  models: [],
  checkModel: () => "cannot be served: Music AI splits tracks and creates none",
  capabilities: (settings) => ({
    idempotentSubmit: false,
    lookup: true,
    // How soon a new job appears in their list is not documented.
    lookupSettlesMs: 60_000,
    cancel: false,
    vocalRemoval: { sources: "any" },
    ...(workflowFor("stem_split", settings) === null ? {} : { stemSplit: { sources: "any" } }),
  }),
  create: (host) => new MusicAiProvider(host),
});
