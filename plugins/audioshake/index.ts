import { defineProvider, PROVIDER_PORT_VERSION, type SplitCapability } from "../sdk/index.js";
import { AudioShakeProvider, LOOKUP_PAGES_MAX } from "./provider.js";
import { SETTINGS } from "./settings.js";

/** AAC comes in MP4 as well, which their list of formats names for video alone. */
const SPLIT: SplitCapability = {
  sources: "any",
  contentTypes: ["audio/wav", "audio/flac", "audio/mpeg"],
  maxBytes: 2_000_000_000,
  maxSeconds: 10_800,
};

/** AudioShake: splits tracks and creates none. */
export default defineProvider({
  id: "audioshake",
  label: "AudioShake",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 4,
  // An upload and a call; or a lookup that reads all its pages.
  longestCallMs: ({ timeoutMs, uploadTimeoutMs }, { sendsSource }) =>
    sendsSource ? timeoutMs + uploadTimeoutMs : LOOKUP_PAGES_MAX * timeoutMs,
  hosts: [],
  settings: SETTINGS,
  models: [],
  checkModel: () => "cannot be served: AudioShake splits tracks and makes none",
  capabilities: {
    idempotentSubmit: false,
    lookup: true,
    // How soon a new task is in their list is not documented.
    lookupSettlesMs: 60_000,
    cancel: false,
    stemSplit: SPLIT,
    vocalRemoval: SPLIT,
  },
  create: (host) => new AudioShakeProvider(host),
});
