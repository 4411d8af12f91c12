import { defineProvider, PROVIDER_PORT_VERSION } from "../sdk/index.js";
import { modelIssue, MODELS } from "./models.js";
import { SonautoProvider } from "./provider.js";
import { SETTINGS } from "./settings.js";

/** Sonauto, now named Treblo: songs with lyrics or without, and instrumentals. */
export default defineProvider({
  id: "sonauto",
  label: "Sonauto (Treblo)",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 4,
  // A poll that sees the end reads the generation as well.
  longestCallMs: ({ timeoutMs }) => 2 * timeoutMs,
  hosts: [],
  settings: SETTINGS,
  models: MODELS,
  checkModel: modelIssue,
  capabilities: { idempotentSubmit: false, lookup: false, cancel: false, callbacks: "hints" },
  create: (host) => new SonautoProvider(host),
});
