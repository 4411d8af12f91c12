import { inputTemplateIssue, type ProviderModel, STANDARD_OPTIONS } from "../sdk/index.js";
import { ACE_STEP_MODES, INLINE_MAX_BYTES, STABLE_AUDIO_25_MODES, stableAudio3Modes } from "./references.js";

const ENDPOINT = /^[\w.-]+(\/[\w.-]+)+$/;

const PLAIN = { supportsLyrics: false, supportsInstrumental: true } as const;

/** Their bounds are not documented: every model accepts these. */
const SEED = { seed: { ...STANDARD_OPTIONS.seed, maximum: 2_147_483_647 } };
const SEED_AND_NEGATIVE = { ...SEED, negative_prompt: STANDARD_OPTIONS.negative_prompt };
const SEED_INPUTS = { seed: "seed" };
const BOTH_INPUTS = { ...SEED_INPUTS, negative_prompt: "negative_prompt" };

/** Takes words of its own, an instrumental switch, or writes the words itself. */
const MINIMAX = {
  creditCost: 15,
  supportsLyrics: true,
  supportsInstrumental: true,
  duration: null,
  promptMaxLength: 2_000,
  lyricsMaxLength: 3_500,
  options: {
    prompt: "prompt",
    lyrics: "lyrics",
    instrumental: { is_instrumental: true },
    wordless: { lyrics_optimizer: true },
    output: "audio",
  },
} as const;

/** Open weights of Stability; bounds of the duration as the small one states them. */
function stableAudio3(base: string, maxSeconds: number): Omit<ProviderModel, "id" | "name" | "creditCost"> {
  const duration = { minSeconds: 1, maxSeconds: 120, defaultSeconds: 30 };
  const { references, templates } = stableAudio3Modes(base, maxSeconds, { duration });
  return {
    ...PLAIN,
    duration,
    upstream: `${base}/text-to-audio`,
    requestOptions: SEED_AND_NEGATIVE,
    references,
    options: { prompt: "prompt", duration: "duration", inputs: BOTH_INPUTS, output: "audio", references: templates },
  };
}

/** Models as fal's own list has them; the operator changes them, and names others, under `plugins.fal.models`. */
export const MODELS: readonly ProviderModel[] = [
  { ...MINIMAX, id: "fal/minimax-music-2.6", name: "MiniMax Music 2.6", upstream: "fal-ai/minimax-music/v2.6" },
  { ...MINIMAX, id: "fal/minimax-music-2.5", name: "MiniMax Music 2.5", upstream: "fal-ai/minimax-music/v2.5" },
  {
    id: "fal/minimax-music-2",
    name: "MiniMax Music 2",
    creditCost: 12,
    supportsLyrics: true,
    requiresLyrics: true,
    supportsInstrumental: false,
    duration: null,
    promptMaxLength: 300,
    lyricsMaxLength: 3_000,
    upstream: "fal-ai/minimax-music/v2",
    options: { prompt: "prompt", lyrics: "lyrics_prompt", output: "audio" },
  },
  {
    ...PLAIN,
    id: "fal/elevenlabs-music",
    name: "ElevenLabs Music",
    creditCost: 20,
    duration: { minSeconds: 3, maxSeconds: 600, defaultSeconds: 60 },
    upstream: "fal-ai/elevenlabs/music",
    options: {
      prompt: "prompt",
      duration: "music_length_ms",
      durationUnit: "ms",
      fixed: { output_format: "mp3_44100_128" },
      instrumental: { force_instrumental: true },
      output: "audio",
    },
  },
  {
    ...PLAIN,
    id: "fal/stable-audio-2.5",
    name: "Stable Audio 2.5",
    creditCost: 15,
    duration: { minSeconds: 1, maxSeconds: 190, defaultSeconds: 190 },
    upstream: "fal-ai/stable-audio-25/text-to-audio",
    requestOptions: SEED,
    references: STABLE_AUDIO_25_MODES.references,
    options: {
      prompt: "prompt",
      duration: "seconds_total",
      inputs: SEED_INPUTS,
      output: "audio",
      references: STABLE_AUDIO_25_MODES.templates,
    },
  },
  {
    ...stableAudio3("fal-ai/stable-audio-3/medium", 380),
    id: "fal/stable-audio-3-medium",
    name: "Stable Audio 3 Medium",
    creditCost: 10,
  },
  {
    ...stableAudio3("fal-ai/stable-audio-3/small/music", 120),
    id: "fal/stable-audio-3-small",
    name: "Stable Audio 3 Small",
    creditCost: 5,
  },
  {
    id: "fal/ace-step",
    name: "ACE-Step",
    creditCost: 10,
    supportsLyrics: true,
    // Without lyrics it sings nothing: it would create an instrumental for every request.
    requiresLyrics: true,
    supportsInstrumental: true,
    // Only the default is documented; the bounds are ours.
    duration: { minSeconds: 5, maxSeconds: 240, defaultSeconds: 60 },
    upstream: "fal-ai/ace-step",
    requestOptions: SEED,
    references: ACE_STEP_MODES.references,
    options: {
      prompt: "tags",
      lyrics: "lyrics",
      duration: "duration",
      inputs: SEED_INPUTS,
      instrumental: { lyrics: "[inst]" },
      output: "audio",
      references: ACE_STEP_MODES.templates,
    },
  },
  {
    ...PLAIN,
    id: "fal/lyria-2",
    name: "Lyria 2",
    creditCost: 10,
    duration: null,
    upstream: "fal-ai/lyria2",
    requestOptions: SEED_AND_NEGATIVE,
    options: { prompt: "prompt", inputs: BOTH_INPUTS, output: "audio" },
  },
  // The next three have no instrumental switch there.
  {
    ...PLAIN,
    supportsInstrumental: false,
    id: "fal/lyria-3",
    name: "Lyria 3",
    creditCost: 12,
    duration: null,
    upstream: "fal-ai/lyria3",
    options: { prompt: "prompt", output: "audio" },
  },
  {
    ...PLAIN,
    supportsInstrumental: false,
    id: "fal/lyria-3-pro",
    name: "Lyria 3 Pro",
    creditCost: 18,
    duration: null,
    upstream: "fal-ai/lyria3/pro",
    options: { prompt: "prompt", output: "audio" },
  },
  {
    ...PLAIN,
    supportsInstrumental: false,
    id: "fal/sonilo-1.1",
    name: "Sonilo 1.1",
    creditCost: 15,
    duration: { minSeconds: 1, maxSeconds: 600, defaultSeconds: 90 },
    upstream: "sonilo/v1.1/text-to-music",
    options: { prompt: "prompt", duration: "duration", output: "audio" },
  },
];

export function modelIssue(model: ProviderModel): string | null {
  const issue = endpointIssue(model.upstream);
  if (issue !== null) return `upstream: ${issue}`;
  return inputTemplateIssue(model, { upstreamIssue: endpointIssue, sentMaxBytes: INLINE_MAX_BYTES });
}

function endpointIssue(id: string | undefined): string | null {
  return id !== undefined && isEndpoint(id)
    ? null
    : `${id ?? "missing"}; allowed: an endpoint id such as fal-ai/ace-step`;
}

export function isEndpoint(id: string): boolean {
  return ENDPOINT.test(id);
}
