import type { ProviderModel, ReferenceCapability, ReferenceModes, ReferenceTemplate } from "../sdk/index.js";

/** Without a public address a track is part of the request, as a data URI; fal names no bound. */
export const INLINE_MAX_BYTES = 10 * 1024 * 1024;

/** The modes of a model: their declaration, and their inputs at the vendor. */
interface Modes {
  readonly references: ReferenceModes;
  readonly templates: { readonly [Mode in keyof ReferenceModes]: ReferenceTemplate };
}

const takes = (maxSeconds: number, parts: Partial<ReferenceCapability> = {}): ReferenceCapability => ({
  sources: "any",
  // The types of fal's examples.
  contentTypes: ["audio/wav", "audio/mpeg"],
  maxBytes: INLINE_MAX_BYTES,
  maxSeconds,
  ...parts,
});

/** Points in time are at most 240 s there. */
export const ACE_STEP_MODES: Modes = {
  references: { extend: takes(240), inpaint: takes(240) },
  templates: {
    extend: { upstream: "fal-ai/ace-step/audio-outpaint", source: "audio_url", duration: "extend_after_duration" },
    inpaint: { upstream: "fal-ai/ace-step/audio-inpaint", source: "audio_url", from: "start_time", to: "end_time" },
  },
};

/** Whole seconds, at most 190. There 1 keeps nothing of the track, and 0 is refused. */
export const STABLE_AUDIO_25_MODES: Modes = {
  references: { cover: takes(190, { takesStrength: true }), inpaint: takes(190) },
  templates: {
    cover: {
      upstream: "fal-ai/stable-audio-25/audio-to-audio",
      source: "audio_url",
      duration: "total_seconds",
      wholeSeconds: true,
      strength: { input: "strength", none: 1, all: 0.01 },
    },
    inpaint: {
      upstream: "fal-ai/stable-audio-25/inpaint",
      source: "audio_url",
      from: "mask_start",
      to: "mask_end",
      // Left out, the documentation has both 190 and the length of the track.
      duration: "seconds_total",
      wholeSeconds: true,
    },
  },
};

/** @param maxSeconds the longest track that the model creates; a cover has the bounds of the model's duration */
export function stableAudio3Modes(
  base: string,
  maxSeconds: number,
  { duration }: Pick<ProviderModel, "duration">,
): Modes {
  return {
    references: {
      extend: takes(maxSeconds),
      cover: takes(duration?.maxSeconds ?? maxSeconds, { takesStrength: true }),
      inpaint: takes(maxSeconds),
    },
    templates: {
      extend: { upstream: `${base}/audio-outpainting`, source: "audio_url", duration: "extend_seconds_after" },
      cover: {
        upstream: `${base}/audio-to-audio`,
        source: "audio_url",
        duration: "duration",
        // Noise that is added: 1 keeps nothing.
        strength: { input: "init_noise_level", none: 1, all: 0.01 },
      },
      inpaint: {
        upstream: `${base}/audio-inpainting`,
        source: "audio_url",
        from: "mask_start_seconds",
        to: "mask_end_seconds",
      },
    },
  };
}
