import { inputTemplateIssue, type ProviderModel, STANDARD_OPTIONS } from "../sdk/index.js";

const UPSTREAM = /^([\w.-]+\/[\w.-]+(:[0-9a-f]{64})?|[0-9a-f]{64})$/;

/** Files that Replicate stores have up to 100 MiB; this much of a track is held in memory, for each submission. */
export const UPLOAD_MAX_BYTES = 64 * 1024 * 1024;

/** Its bounds are not documented: every model accepts these. */
const SEED = { ...STANDARD_OPTIONS.seed, maximum: 2_147_483_647 };

/** Models as their pages had them; the operator changes them, and names others, under `plugins.replicate.models`. */
export const MODELS: readonly ProviderModel[] = [
  {
    id: "replicate/minimax-music-1.5",
    name: "MiniMax Music 1.5",
    creditCost: 12,
    supportsLyrics: true,
    requiresLyrics: true,
    supportsInstrumental: false,
    duration: null,
    promptMaxLength: 300,
    lyricsMaxLength: 600,
    upstream: "minimax/music-1.5",
    options: { prompt: "prompt", lyrics: "lyrics", fixed: { audio_format: "mp3" } },
  },
  {
    id: "replicate/stable-audio-2.5",
    name: "Stable Audio 2.5",
    creditCost: 15,
    supportsLyrics: false,
    supportsInstrumental: true,
    duration: { minSeconds: 1, maxSeconds: 190, defaultSeconds: 190 },
    upstream: "stability-ai/stable-audio-2.5",
    requestOptions: { seed: SEED },
    options: { prompt: "prompt", duration: "duration", inputs: { seed: "seed" } },
  },
  {
    id: "replicate/elevenlabs-music",
    name: "ElevenLabs Music",
    creditCost: 20,
    supportsLyrics: false,
    supportsInstrumental: true,
    duration: { minSeconds: 5, maxSeconds: 300, defaultSeconds: 60 },
    upstream: "elevenlabs/music",
    options: {
      prompt: "prompt",
      duration: "music_length_ms",
      durationUnit: "ms",
      // The model's default is true: nothing would be sung.
      instrumental: { force_instrumental: true },
      wordless: { force_instrumental: false },
    },
  },
  {
    id: "replicate/lyria-2",
    name: "Lyria 2",
    creditCost: 10,
    supportsLyrics: false,
    supportsInstrumental: true,
    duration: null,
    upstream: "google/lyria-2",
    requestOptions: { seed: SEED, negative_prompt: STANDARD_OPTIONS.negative_prompt },
    options: { prompt: "prompt", inputs: { seed: "seed", negative_prompt: "negative_prompt" } },
  },
  {
    id: "replicate/musicgen",
    name: "MusicGen",
    creditCost: 10,
    supportsLyrics: false,
    supportsInstrumental: true,
    duration: { minSeconds: 1, maxSeconds: 30, defaultSeconds: 8 },
    // A model of the community: it is called by its version.
    upstream: "meta/musicgen:671ac645ce5e552cc63a54a2bbff63fcf798043055d2dac5fc9e36a837eedcfb",
    // 0 may stand for none there.
    requestOptions: { seed: { ...SEED, minimum: 1 } },
    references: {
      cover: {
        sources: "any",
        contentTypes: ["audio/wav", "audio/flac", "audio/mpeg"],
        maxBytes: UPLOAD_MAX_BYTES,
      },
    },
    options: {
      prompt: "prompt",
      duration: "duration",
      inputs: { seed: "seed" },
      fixed: { model_version: "stereo-large", output_format: "mp3" },
      references: {
        cover: {
          source: "input_audio",
          duration: "duration",
          wholeSeconds: true,
          // The version that takes a melody; it follows that of the track.
          fixed: { model_version: "stereo-melody-large", output_format: "mp3" },
        },
      },
    },
  },
];

/** The separator for splits, unless settings name another. */
export const SPLIT_MODEL = "ryan5453/demucs:5a7041cc9b82e5a558fea6b3d7b12dea89625e89da33f0447bd727c2d0ab9e77";

export function modelIssue(model: ProviderModel): string | null {
  const issue = versionIssue(model.upstream);
  if (issue !== null) return `upstream: ${issue}`;
  return inputTemplateIssue(model, { upstreamIssue: versionIssue, sentMaxBytes: UPLOAD_MAX_BYTES });
}

function versionIssue(upstream: string | undefined): string | null {
  const allowed = "owner/name, owner/name:<version of 64 hex digits>, or the version alone";
  return upstream !== undefined && isVersion(upstream) ? null : `${upstream ?? "missing"}; allowed: ${allowed}`;
}

/** Whether a prediction accepts it as `version`. */
export function isVersion(upstream: string): boolean {
  return UPSTREAM.test(upstream);
}
