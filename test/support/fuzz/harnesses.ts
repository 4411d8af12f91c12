/** Every plugin with a network, with the scenarios of its conformance suite. */
import type { MusicProviderHarness } from "../../contract/music-provider.contract.js";
import { aceStep } from "../../plugins/ace-step-support.js";
import { audioShake } from "../../plugins/audioshake-support.js";
import { beatoven } from "../../plugins/beatoven-support.js";
import { comfyUi, comfyUiOld } from "../../plugins/comfyui-support.js";
import { elevenLabsHarness } from "../../plugins/elevenlabs-support.js";
import { falHarness } from "../../plugins/fal-support.js";
import { documented, foreign, immediate } from "../../plugins/http-model-support.js";
import { lalal } from "../../plugins/lalal-support.js";
import { loudly } from "../../plugins/loudly-support.js";
import { interactionsHarness } from "../../plugins/lyria-interactions-support.js";
import { geminiHarness, vertexHarness } from "../../plugins/lyria-support.js";
import { miniMaxHarness } from "../../plugins/minimax-support.js";
import { mubert } from "../../plugins/mubert-support.js";
import { mureka, murekaWithSplits } from "../../plugins/mureka-support.js";
import { musicAiHarness } from "../../plugins/musicai-support.js";
import { musicGpt } from "../../plugins/musicgpt-support.js";
import { replicateHarness } from "../../plugins/replicate-support.js";
import { sonauto } from "../../plugins/sonauto-support.js";
import { asyncHarness, syncHarness } from "../../plugins/stability-support.js";
import { kie, sunoapi } from "../../plugins/suno-compatible-support.js";

export const HARNESSES: Readonly<Record<string, MusicProviderHarness>> = {
  "ace-step": aceStep,
  audioshake: audioShake,
  beatoven,
  comfyui: comfyUi,
  "comfyui, an older server": comfyUiOld,
  elevenlabs: elevenLabsHarness,
  fal: falHarness,
  "http-model": documented(),
  "http-model, another shape": foreign(),
  "http-model, at once": immediate(),
  lalal,
  loudly,
  "lyria, interactions": interactionsHarness,
  "lyria, Gemini": geminiHarness,
  "lyria, Vertex": vertexHarness,
  minimax: miniMaxHarness,
  mubert,
  mureka,
  "mureka, with splits": murekaWithSplits,
  musicai: musicAiHarness,
  musicgpt: musicGpt,
  replicate: replicateHarness,
  sonauto,
  "stability, Stable Audio 3": asyncHarness,
  "stability, Stable Audio 2": syncHarness,
  "suno-compatible, sunoapi.org": sunoapi,
  "suno-compatible, kie.ai": kie,
};
