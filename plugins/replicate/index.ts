import { PROVIDER_PORT_VERSION, defineProvider } from "../sdk/index.js";
import type { SplitCapability } from "../sdk/index.js";
import { modelIssue, MODELS } from "./models.js";
import { ReplicateProvider } from "./provider.js";
import { SETTINGS } from "./settings.js";

/** Its models fetch a track themselves. */
const SPLIT: SplitCapability = { sources: "any", needsUrl: true };

/** Any model that replicate.com hosts, by a mapping of its inputs and its output. */
export default defineProvider({
  id: "replicate",
  label: "Replicate",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 4,
  // A submission: the track, then the prediction.
  longestCallMs: ({ timeoutMs, uploadTimeoutMs }, { sendsSource }) => (sendsSource ? uploadTimeoutMs : 0) + timeoutMs,
  hosts: [],
  settings: SETTINGS,
  models: MODELS,
  checkModel: modelIssue,
  capabilities: ({ splits }) => ({
    idempotentSubmit: false,
    lookup: false,
    cancel: true,
    callbacks: "signed",
    ...(splits ? { stemSplit: SPLIT, vocalRemoval: SPLIT } : {}),
  }),
  create: (host) => new ReplicateProvider(host),
});
