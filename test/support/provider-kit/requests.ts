import type { MusicRequest, ProviderModel, SourceAudio, SplitRequest } from "../../../core/ports/music-provider.js";
import { tinyMp3 } from "./sounds.js";

let created = 0;

/**
 * A generation that fits the model; every one is another job's.
 *
 * @example
 * const [model] = new ScriptedProvider().definition.models;
 * assert(model !== undefined);
 * const request = aMusicRequest(model, { prompt: "rain", durationSeconds: 30 });
 */
export function aMusicRequest(model: ProviderModel, parts: Partial<MusicRequest> = {}): MusicRequest {
  created += 1;
  const isInstrumental = model.supportsInstrumental && model.requiresLyrics !== true && !model.supportsLyrics;
  return {
    operation: "music",
    jobId: `job_01jd${String(created).padStart(22, "0")}`,
    attemptId: `att_01jd${String(created).padStart(22, "0")}`,
    attempt: 1,
    callbackUrl: null,
    model,
    prompt: "a quiet tune for rain",
    lyrics: model.supportsLyrics ? "[Verse]\nRain on the roof tonight\nAll is well inside" : null,
    durationSeconds: model.duration?.defaultSeconds ?? null,
    instrumental: isInstrumental,
    options: {},
    ...parts,
  };
}

/**
 * A stored track to be split or worked from: a small MP3 unless stated otherwise.
 *
 * @example
 * const source = aSource({ contentType: "audio/wav" }, tinyWav());
 */
export function aSource(parts: Partial<SourceAudio> = {}, content: Uint8Array = tinyMp3("source")): SourceAudio {
  return {
    title: "Rain on a tin roof",
    contentType: "audio/mpeg",
    sizeBytes: content.length,
    durationSeconds: 0.5,
    open: async function* () {
      yield content;
    },
    url: null,
    reference: null,
    ...parts,
  };
}

/**
 * A split of this track; every one is another job's.
 *
 * @example
 * const request = aSplitRequest("stem_split", aSource());
 */
export function aSplitRequest(
  operation: SplitRequest["operation"],
  source: SourceAudio,
  parts: Partial<SplitRequest> = {},
): SplitRequest {
  created += 1;
  return {
    operation,
    jobId: `job_01jd${String(created).padStart(22, "0")}`,
    attemptId: `att_01jd${String(created).padStart(22, "0")}`,
    attempt: 1,
    callbackUrl: null,
    source,
    ...parts,
  };
}
