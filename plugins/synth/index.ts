import { PROVIDER_PORT_VERSION, defineProvider } from "../sdk/index.js";
import type { SplitCapability } from "../sdk/index.js";
import { SynthProvider } from "./provider.js";
import { SETTINGS } from "./settings.js";
import { SPLIT_MAX_BYTES, SPLIT_MAX_SECONDS } from "./split/limits.js";

/** Of the longest split, a quarter of an hour of audio, on a slow machine that has other work as well. */
const LONGEST_RENDER_MS = 30 * 60_000;

const DURATION = { minSeconds: 5, maxSeconds: 240, defaultSeconds: 30 } as const;

/** Whatever it was made by: its own pieces are rendered again, all others are taken apart by signal processing. */
const SPLIT: SplitCapability = {
  sources: "any",
  contentTypes: ["audio/mpeg", "audio/wav", "audio/flac", "audio/ogg"],
  maxBytes: SPLIT_MAX_BYTES,
  maxSeconds: SPLIT_MAX_SECONDS,
};

/** The built-in provider: composes and renders music on this machine, offline, the same for the same request. */
export default defineProvider({
  id: "synth",
  label: "Fermata Synth",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: ({ threads }) => threads,
  longestCallMs: LONGEST_RENDER_MS,
  hosts: [],
  settings: SETTINGS,
  models: [
    {
      id: "synth/instrumental",
      name: "Synth Instrumental",
      creditCost: 10,
      supportsLyrics: false,
      supportsInstrumental: true,
      duration: DURATION,
    },
    {
      id: "synth/song",
      name: "Synth Song",
      creditCost: 15,
      supportsLyrics: true,
      supportsInstrumental: false,
      duration: DURATION,
      lyricsMaxLength: 5_000,
    },
  ],
  // Resubmitting is harmless: nothing is kept between calls and equal requests give equal bytes.
  capabilities: { idempotentSubmit: true, lookup: false, cancel: false, stemSplit: SPLIT, vocalRemoval: SPLIT },
  create: (host) => new SynthProvider(host),
});
