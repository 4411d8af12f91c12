import { PROVIDER_PORT_VERSION, defineProvider } from "../../core/ports/music-provider.js";
import type { SplitCapability } from "../../core/ports/music-provider.js";
import { modelMistake, MODELS } from "./models.js";
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
  longestCallMs: ({ timeoutMs }) => Number(timeoutMs),
  hosts: [],
  settings: SETTINGS,
  models: MODELS,
  checkModel: modelMistake,
  capabilities: ({ splits }) => ({
    idempotentSubmit: false,
    lookup: false,
    cancel: true,
    callbacks: "signed",
    ...(splits === false ? {} : { stemSplit: SPLIT, vocalRemoval: SPLIT }),
  }),
  create: (host) => new ReplicateProvider(host),
});
