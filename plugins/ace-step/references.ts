import { ProviderFailure, sourceFile } from "../sdk/index.js";
import type { JsonObject, MusicReference, MusicRequest, ProviderModel, ReferenceModes } from "../sdk/index.js";

/** The longest track, by the documentation. */
const TOTAL_MAX_SECONDS = 600;

/** The model is trained for parts of 3 to 90 seconds; the server accepts longer ones. */
const PART_SECONDS = 90;

/** A submission holds the whole track in memory. */
const MAX_BYTES = 64 * 1024 * 1024;

const LIMITS = {
  sources: "any",
  // The formats that the server surely reads: it reports no error for a file that it cannot read.
  contentTypes: ["audio/wav", "audio/flac", "audio/mpeg"],
  maxBytes: MAX_BYTES,
  maxSeconds: TOTAL_MAX_SECONDS,
} as const;

/** The modes that every model of the server has. */
export const REFERENCES: ReferenceModes = {
  extend: LIMITS,
  cover: { ...LIMITS, takesStrength: true },
  inpaint: LIMITS,
};

/** The issue of the modes of a model that an operator configured; null when there is none. */
export function referencesIssue({ references = {} }: ProviderModel): string | null {
  for (const mode of ["extend", "inpaint"] as const) {
    if (references[mode]?.takesStrength === true)
      return `has references.${mode}.takesStrength: only a cover takes a strength`;
  }
  for (const [mode, { maxBytes = Infinity }] of Object.entries(references)) {
    if (maxBytes > MAX_BYTES) return `needs references.${mode}.maxBytes of at most ${MAX_BYTES}`;
  }
  return null;
}

/**
 * The fields of a task that works from a track, which replace those of a task without one.
 *
 * @throws {ProviderFailure} `invalid_input`: the track's length is not known, or it would get too long
 */
export function referenceFields(reference: MusicReference, request: MusicRequest): JsonObject {
  const { mode, strength } = reference;
  // As long as the track. With the planner, the server would create a cover of a part only.
  const common = { audio_duration: undefined, thinking: false };
  if (mode === "cover") return { ...common, task_type: "cover", audio_cover_strength: strength ?? undefined };
  const [from, to] = mode === "inpaint" ? partOf(reference) : additionOf(reference, request);
  return { ...common, task_type: "repaint", repainting_start: from, repainting_end: to };
}

/** A task with its track: its fields as text, as a form has them. */
export async function formOf(task: JsonObject, { source }: MusicReference): Promise<FormData> {
  const form = new FormData();
  for (const [name, value] of Object.entries(task))
    if (value !== undefined) form.set(name, typeof value === "string" ? value : JSON.stringify(value));
  form.set("src_audio", await sourceFile(source));
  return form;
}

function partOf({ fromSeconds, toSeconds }: MusicReference): readonly [from: number, to: number] {
  if (fromSeconds === null || toSeconds === null) throw refused("A part has a beginning and an end.");
  return [fromSeconds, toSeconds];
}

/** A part that ends behind the track extends it. The server recreates the track after an earlier point. */
function additionOf(
  { source, fromSeconds }: MusicReference,
  request: MusicRequest,
): readonly [from: number, to: number] {
  const end = source.durationSeconds;
  if (end === null) throw refused("The length of the track is not known, so its end is not either.");
  const usual = Math.min(request.model.duration?.defaultSeconds ?? PART_SECONDS, PART_SECONDS);
  const from = fromSeconds ?? end;
  const to = Math.max(from + (request.durationSeconds ?? usual), end);
  if (to > TOTAL_MAX_SECONDS) throw refused(`An extended track has at most ${TOTAL_MAX_SECONDS} s.`);
  return [from, to];
}

function refused(message: string): ProviderFailure {
  return new ProviderFailure("invalid_input", message, { billable: "no" });
}
