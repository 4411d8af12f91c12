import { NO_TAGS, streamedForm } from "../sdk/index.js";
import type { ApiCall, ApiResponse, JsonObject, MusicRequest, ProviderTrack } from "../sdk/index.js";
import { referenceFields } from "./references.js";

/** `options.endpoint` of a model. The first responds with an id, the second with the music. */
export const ENDPOINTS = ["stable-audio", "stable-audio-2"] as const;

/** A form as a call takes it. */
type Form = Pick<ApiCall, "body" | "headers">;

/** The address and the form of a generation; seconds are seconds there. */
export function callOf(request: MusicRequest, outputFormat: string): Form & { readonly path: string } {
  const { model, prompt, durationSeconds, options, reference } = request;
  const { endpoint, steps, cfgScale } = model.options ?? {};
  const fields = textsOf({
    prompt,
    model: model.upstream,
    duration: durationSeconds ?? model.duration?.defaultSeconds,
    seed: options["seed"],
    steps,
    cfg_scale: cfgScale,
    output_format: outputFormat,
    ...(reference === undefined ? {} : referenceFields(request, reference)),
  });
  const path = (operation: string): string => `/v2beta/audio/${String(endpoint)}/${operation}`;
  if (reference === undefined) return { path: path("text-to-audio"), body: formOf(fields) };
  const operation = reference.mode === "inpaint" ? "inpaint" : "audio-to-audio";
  return { path: path(operation), ...streamedForm(reference.source, { name: "track", field: "audio", fields }) };
}

function textsOf(fields: JsonObject): Record<string, string | number> {
  const given = Object.entries(fields).flatMap(([name, value]) =>
    typeof value === "string" || typeof value === "number" ? [[name, value] as const] : [],
  );
  return Object.fromEntries(given);
}

function formOf(fields: Readonly<Record<string, string | number>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value));
  return form;
}

/** True for a response whose content type is audio, even if it is empty. */
export function isSound({ status, headers }: ApiResponse): boolean {
  return status === 200 && headers.get("content-type")?.startsWith("audio/") === true;
}

/** The track in a response. */
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
