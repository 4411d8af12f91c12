import { NO_TAGS } from "../sdk/index.js";
import type { ApiResponse, MusicRequest, ProviderTrack } from "../sdk/index.js";

/** `options.endpoint` of a model: where it is made. The first answers an id, the second the music. */
export const ENDPOINTS = ["stable-audio", "stable-audio-2"] as const;

/** The form of a generation; seconds are seconds there. */
export function formOf(request: MusicRequest, outputFormat: string): FormData {
  const { model, prompt, durationSeconds, options } = request;
  const { steps, cfgScale } = model.options ?? {};
  const seconds = durationSeconds ?? model.duration?.defaultSeconds;
  const fields = {
    prompt,
    model: model.upstream,
    duration: seconds,
    seed: options["seed"],
    steps,
    cfg_scale: cfgScale,
    output_format: outputFormat,
  };
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === "string" || typeof value === "number") form.append(name, String(value));
  }
  return form;
}

/** True for an answer that says it is sound, if only of no length. */
export function isSound({ status, headers }: ApiResponse): boolean {
  return status === 200 && headers.get("content-type")?.startsWith("audio/") === true;
}

/** The piece that an answer is. */
export function trackOf({ bytes }: ApiResponse): ProviderTrack {
  return {
    title: null,
    bpm: null,
    tags: NO_TAGS,
    assets: [
      { role: "mix", label: "full", contentType: null, durationSeconds: null, source: { kind: "bytes", bytes } },
    ],
  };
}
