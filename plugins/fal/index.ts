import { PROVIDER_PORT_VERSION, defineProvider } from "../sdk/index.js";
import { modelIssue, MODELS } from "./models.js";
import { FalProvider } from "./provider.js";
import { SETTINGS } from "./settings.js";

/** Any model behind fal.ai's queue, by a mapping of its inputs and its output. */
export default defineProvider({
  id: "fal",
  label: "fal",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 4,
  // A poll: the status, then the result. A submission: a track in it.
  longestCallMs: ({ timeoutMs, uploadTimeoutMs }, { sendsSource }) =>
    sendsSource ? Math.max(2 * timeoutMs, uploadTimeoutMs) : 2 * timeoutMs,
  hosts: [],
  settings: SETTINGS,
  models: MODELS,
  checkModel: modelIssue,
  capabilities: ({ splits }) => ({
    idempotentSubmit: false,
    lookup: false,
    cancel: true,
    callbacks: "signed",
    // Its separator returns no instrumental: no vocal removal. It fetches the track itself.
    ...(splits ? { stemSplit: { sources: "any", needsUrl: true } } : {}),
  }),
  create: (host) => new FalProvider(host),
});
