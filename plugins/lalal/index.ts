import { defineProvider, PROVIDER_PORT_VERSION } from "../sdk/index.js";
import type { SplitCapability } from "../sdk/index.js";
import { LalalProvider } from "./provider.js";
import { SETTINGS } from "./settings.js";

const SPLIT: SplitCapability = { sources: "any", maxBytes: 10_000_000_000 };

/** LALAL.AI: splits tracks and creates none. */
export default defineProvider({
  id: "lalal",
  label: "LALAL.AI",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 2,
  longestCallMs: ({ timeoutMs, uploadTimeoutMs }, { sendsSource }) => timeoutMs + (sendsSource ? uploadTimeoutMs : 0),
  hosts: [],
  settings: SETTINGS,
  models: [],
  capabilities: { idempotentSubmit: true, lookup: false, cancel: true, stemSplit: SPLIT, vocalRemoval: SPLIT },
  create: (host) => new LalalProvider(host),
});
