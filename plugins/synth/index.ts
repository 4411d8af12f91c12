import { PROVIDER_PORT_VERSION, STANDARD_OPTIONS, defineProvider } from "../sdk/index.js";
import type { ReferenceModes, RequestOptions, SplitCapability } from "../sdk/index.js";
import { EXTENDED_MAX_SECONDS } from "./extend.js";
import { BPM_MAX, BPM_MIN } from "./composer/brief.js";
import { SynthProvider } from "./provider.js";
import { SETTINGS } from "./settings.js";
import { SPLIT_MAX_BYTES, SPLIT_MAX_SECONDS } from "./split/limits.js";

/** For the longest split, 15 minutes of audio, on a slow machine under load. */
const LONGEST_RENDER_MS = 30 * 60_000;

const DURATION = { minSeconds: 5, maxSeconds: 240, defaultSeconds: 30 } as const;

const REQUEST_OPTIONS: RequestOptions = {
  seed: {
    ...STANDARD_OPTIONS.seed,
    description: "Another seed creates another track from the same words. Without one the words alone decide.",
  },
  bpm: {
    ...STANDARD_OPTIONS.bpm,
    minimum: BPM_MIN,
    maximum: BPM_MAX,
    description: "Beats per minute; overrides the prompt. Without it the prompt decides.",
  },
  key: {
    ...STANDARD_OPTIONS.key,
    description:
      "Musical key, such as C major, F# minor or Eb major; overrides the prompt. Without it the prompt decides.",
  },
};

/** Of any track: its own tracks are rendered again, all others are split by signal processing. */
const SPLIT: SplitCapability = {
  sources: "any",
  contentTypes: ["audio/mpeg", "audio/wav", "audio/flac", "audio/ogg"],
  maxBytes: SPLIT_MAX_BYTES,
  maxSeconds: SPLIT_MAX_SECONDS,
};

/** Only its own tracks, in their tempo and key; their `reference` stores what they were composed from. */
const REFERENCES: ReferenceModes = { extend: { sources: "own", maxSeconds: EXTENDED_MAX_SECONDS } };

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
      requestOptions: REQUEST_OPTIONS,
      references: REFERENCES,
    },
    {
      id: "synth/song",
      name: "Synth Song",
      creditCost: 15,
      supportsLyrics: true,
      supportsInstrumental: false,
      duration: DURATION,
      lyricsMaxLength: 5_000,
      requestOptions: REQUEST_OPTIONS,
      references: REFERENCES,
    },
  ],
  // Resubmitting is harmless: calls share no state and equal requests give equal bytes.
  capabilities: { idempotentSubmit: true, lookup: false, cancel: false, stemSplit: SPLIT, vocalRemoval: SPLIT },
  create: (host) => new SynthProvider(host),
});
