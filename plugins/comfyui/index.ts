import { defineProvider, PROVIDER_PORT_VERSION, type SplitCapability } from "../sdk/index.js";
import { ACE_STEP_OPTIONS } from "./ace-step-workflow.js";
import { modelIssue } from "./options.js";
import { ComfyUiProvider } from "./provider.js";
import { SETTINGS } from "./settings.js";
import { stemsIn, vocalsOf } from "./stems.js";

/** By default the server takes uploads of 100 MB. */
const SPLIT: SplitCapability = { sources: "any", maxBytes: 100_000_000 };

/** After a lost connection the server may still be checking the submission, which is not in its queue yet. */
const LOOKUP_SETTLES_MS = 30_000;

/** ComfyUI on the operator's own machine: its workflows decide what it creates. */
export default defineProvider({
  id: "comfyui",
  label: "ComfyUI",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 2,
  maxInFlight: 10,
  // A poll of an older server reads the job, the queue and the history.
  longestCallMs: ({ timeoutMs, uploadTimeoutMs }, { sendsSource }) =>
    Math.max(3 * timeoutMs, sendsSource ? timeoutMs + uploadTimeoutMs : 0),
  hosts: [],
  settings: SETTINGS,
  models: [
    {
      id: "comfyui/ace-step-v1.5-turbo",
      name: "ACE-Step 1.5 turbo (ComfyUI)",
      creditCost: 4,
      supportsLyrics: true,
      supportsInstrumental: true,
      requiresLyrics: true,
      duration: { minSeconds: 10, maxSeconds: 600, defaultSeconds: 120 },
      lyricsMaxLength: 4_096,
      promptMaxLength: 512,
      upstream: "ace_step_1.5_turbo_aio.safetensors",
      requestOptions: ACE_STEP_OPTIONS,
    },
  ],
  checkModel: modelIssue,
  capabilities: (settings) => {
    const stems = stemsIn(settings);
    return {
      idempotentSubmit: false,
      lookup: true,
      lookupSettlesMs: LOOKUP_SETTLES_MS,
      cancel: true,
      ...(stems === null ? {} : { stemSplit: SPLIT }),
      ...(stems === null || vocalsOf(stems) === null ? {} : { vocalRemoval: SPLIT }),
    };
  },
  create: (host) => new ComfyUiProvider(host),
});
