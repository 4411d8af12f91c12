import { defineProvider, PROVIDER_PORT_VERSION } from "../sdk/index.js";
import { modelIssue, REQUEST_OPTIONS } from "./options.js";
import { AceStepProvider } from "./provider.js";
import { REFERENCES } from "./references.js";
import { SETTINGS } from "./settings.js";

/** ACE-Step 1.5 on a server of the operator's own: songs and instrumentals. */
export default defineProvider({
  id: "ace-step",
  label: "ACE-Step",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 2,
  // The server fails tasks an hour after their submission: a low limit keeps its queue short.
  maxInFlight: 10,
  // When the queue is full, a submission reads the server's load as well.
  longestCallMs: ({ timeoutMs }) => 2 * timeoutMs,
  hosts: [],
  settings: SETTINGS,
  models: [
    {
      id: "ace-step/v1.5-turbo",
      name: "ACE-Step 1.5 turbo",
      creditCost: 4,
      supportsLyrics: true,
      supportsInstrumental: true,
      requiresLyrics: true,
      duration: { minSeconds: 10, maxSeconds: 600, defaultSeconds: 120 },
      lyricsMaxLength: 4_096,
      promptMaxLength: 512,
      upstream: "acestep-v15-turbo",
      requestOptions: REQUEST_OPTIONS,
      references: REFERENCES,
    },
  ],
  checkModel: modelIssue,
  capabilities: { idempotentSubmit: false, lookup: false, cancel: false },
  create: (host) => new AceStepProvider(host),
});
