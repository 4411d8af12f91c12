import { type RequestOptions, STANDARD_OPTIONS } from "../sdk/index.js";
import type { Workflow } from "./workflow.js";

/** `options` of a model that names no workflow: ACE-Step 1.5 by the nodes that every ComfyUI of 2026 has. */
export const ACE_STEP: { readonly workflow: Workflow; readonly output: string; readonly master: string } = {
  workflow: {
    "1": { class_type: "CheckpointLoaderSimple", inputs: { ckpt_name: "{{model}}" } },
    "2": { class_type: "ModelSamplingAuraFlow", inputs: { model: ["1", 0], shift: 3 } },
    "3": {
      class_type: "TextEncodeAceStepAudio1.5",
      inputs: {
        clip: ["1", 1],
        tags: "{{prompt}}",
        lyrics: "{{lyrics}}",
        seed: "{{seed}}",
        bpm: "{{bpm}}",
        duration: "{{duration}}",
        timesignature: "4",
        language: "{{language}}",
        keyscale: "{{key}}",
        generate_audio_codes: true,
        cfg_scale: 2,
        temperature: 0.85,
        top_p: 0.9,
        top_k: 0,
        min_p: 0,
      },
    },
    "4": { class_type: "ConditioningZeroOut", inputs: { conditioning: ["3", 0] } },
    // Two nodes have the length as input.
    "5": { class_type: "EmptyAceStep1.5LatentAudio", inputs: { seconds: "{{duration}}", batch_size: 1 } },
    "6": {
      class_type: "KSampler",
      inputs: {
        model: ["2", 0],
        positive: ["3", 0],
        negative: ["4", 0],
        latent_image: ["5", 0],
        seed: "{{seed}}",
        steps: 8,
        cfg: 1,
        sampler_name: "euler",
        scheduler: "simple",
        denoise: 1,
      },
    },
    "7": { class_type: "VAEDecodeAudio", inputs: { samples: ["6", 0], vae: ["1", 2] } },
    "8": {
      class_type: "SaveAudioMP3",
      inputs: { audio: ["7", 0], filename_prefix: "fermata/{{attempt_id}}", quality: "320k" },
    },
    "9": { class_type: "SaveAudio", inputs: { audio: ["7", 0], filename_prefix: "fermata/{{attempt_id}}" } },
  },
  output: "8",
  master: "9",
};

const NOTES = ["C", "C#", "Db", "D", "D#", "Eb", "E", "F", "F#", "Gb", "G", "G#", "Ab", "A", "A#", "Bb", "B"];

/** Languages of lyrics that its node knows. */
const LANGUAGES = "en ja zh es de fr pt ru it nl pl tr vi cs fa id ko uk hu ar sv ro el".split(" ");

/** The request options of the model. */
export const ACE_STEP_OPTIONS: RequestOptions = {
  seed: STANDARD_OPTIONS.seed,
  bpm: { ...STANDARD_OPTIONS.bpm, description: "Beats per minute; 120 by default." },
  key: {
    ...STANDARD_OPTIONS.key,
    allowed: ["major", "minor"].flatMap((scale) => NOTES.map((note) => `${note} ${scale}`)),
    description: "Musical key; C major by default.",
  },
  language: {
    ...STANDARD_OPTIONS.language,
    allowed: LANGUAGES,
    description: "Language of the lyrics; en by default.",
  },
};
