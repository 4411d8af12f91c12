import { asObject, ProviderFailure } from "../sdk/index.js";
import type {
  JsonObject,
  MusicReference,
  MusicRequest,
  ProviderModel,
  ProviderReference,
  ReferenceModes,
  SourceLimits,
} from "../sdk/index.js";

/** The longest song, including the kept part. */
const SONG_MAX_MS = 600_000;
/** The bounds of the generated part, and of one chunk. */
const PART_MIN_MS = 3_000;
const CHUNK_MAX_MS = 120_000;
/** The shortest part that can be kept. */
const KEPT_MIN_MS = 50;
/** A plan has at most 30 chunks, two of which may be kept parts. */
const CHUNKS_MAX = 28;
const STYLES_MAX = 50;

/** The largest upload is not documented. */
const SOURCE: SourceLimits = { sources: "any", maxBytes: 100_000_000, maxSeconds: SONG_MAX_MS / 1_000 };

/** Of `music_v2` and later; an upload costs as much as a generation. */
export const REFERENCES: ReferenceModes = {
  extend: { ...SOURCE, creditCost: 30 },
  inpaint: { ...SOURCE, creditCost: 30 },
};

/** The issue of the modes of a model; null when there is none. */
export function referencesIssue({ upstream, references = {} }: ProviderModel): string | null {
  const modes = Object.keys(references);
  if (modes.includes("cover")) return "has references.cover; ElevenLabs has extend and inpaint";
  return modes.length > 0 && upstream === "music_v1" ? "has `references`; music_v1 works from no track here" : null;
}

interface Range {
  readonly start_ms: number;
  readonly end_ms: number;
}

/** The kept parts of a track, and the length of the new part between them. */
export interface Cut {
  readonly head: Range | null;
  readonly partMs: number;
  readonly tail: Range | null;
}

/** @throws {ProviderFailure} `invalid_input`: a track, or points in it, that ElevenLabs does not take */
export function cutOf({ durationSeconds, model }: MusicRequest, reference: MusicReference): Cut {
  const known = reference.source.durationSeconds;
  // Rounds down: a kept part must not end behind the track.
  const endMs = known === null ? null : Math.floor(known * 1_000);
  const cut = reference.mode === "inpaint" ? replaced(reference, endMs) : extended(reference, endMs);
  const partMs = cut.partMs ?? addedMs(durationSeconds, model, cut.head?.end_ms ?? 0);
  if (partMs < PART_MIN_MS) throw refusal(`ElevenLabs generates ${PART_MIN_MS / 1_000} s or more.`);
  return { ...cut, partMs };
}

type Points = Omit<Cut, "partMs"> & { readonly partMs: number | null };

function replaced({ fromSeconds, toSeconds }: MusicReference, endMs: number | null): Points {
  if (endMs === null || fromSeconds === null || toSeconds === null)
    throw refusal("ElevenLabs replaces a part only in a track whose length is known.");
  const head = keptRange(0, Math.round(fromSeconds * 1_000));
  const tail = keptRange(Math.round(toSeconds * 1_000), endMs);
  // A part that is too short to be kept is regenerated, so that the track keeps its length.
  return { head, tail, partMs: (tail?.start_ms ?? endMs) - (head?.end_ms ?? 0) };
}

function extended({ mode, fromSeconds }: MusicReference, endMs: number | null): Points {
  if (mode !== "extend") throw refusal(`ElevenLabs does not ${mode} a track.`);
  const fromMs = fromSeconds === null ? endMs : Math.round(fromSeconds * 1_000);
  if (fromMs === null) throw refusal("ElevenLabs goes on from the end only of a track whose length is known.");
  const head = keptRange(0, endMs === null ? fromMs : Math.min(fromMs, endMs));
  if (head === null) throw refusal("ElevenLabs goes on from no earlier than 0.05 s.");
  return { head, tail: null, partMs: null };
}

/** The requested length, else the model's default, up to the longest song. */
function addedMs(seconds: number | null, { duration }: ProviderModel, keptMs: number): number {
  const leftMs = SONG_MAX_MS - keptMs;
  if (seconds === null) return Math.min(leftMs, (duration?.defaultSeconds ?? 30) * 1_000);
  if (seconds * 1_000 > leftMs) throw refusal(`A song has at most ${SONG_MAX_MS / 1_000} s, what is kept included.`);
  return seconds * 1_000;
}

function keptRange(startMs: number, endMs: number): Range | null {
  return endMs - startMs < KEPT_MIN_MS ? null : { start_ms: startMs, end_ms: endMs };
}

/** The new chunks between the kept ones; `songId` is null where nothing is kept. */
export function joinedPlan(chunks: readonly JsonObject[], { head, tail }: Cut, songId: string | null): JsonObject {
  const kept = (range: Range | null): JsonObject[] =>
    range === null || songId === null ? [] : [{ song_id: songId, range }];
  return { chunks: [...kept(head), ...chunks, ...kept(tail)] };
}

/** The planned chunks, scaled to the length of the part; null where the plan has none. */
export function fittedChunks(plan: unknown, partMs: number): JsonObject[] | null {
  const { chunks } = asObject(plan);
  const planned = (Array.isArray(chunks) ? chunks : []).map(asObject);
  const kept = planned.slice(0, Math.min(CHUNKS_MAX, Math.floor(partMs / PART_MIN_MS)));
  const last = kept.at(-1);
  if (last === undefined || !kept.every(({ duration_ms: ms }) => typeof ms === "number")) return null;
  while (kept.length * CHUNK_MAX_MS < partMs) kept.push(last);
  const spare = kept.map(({ duration_ms: ms }) => Math.max(0, Number(ms) - PART_MIN_MS));
  const lengths = shares(partMs, spare);
  const fits = lengths.every((ms) => ms <= CHUNK_MAX_MS);
  const even = shares(partMs, Array<number>(kept.length).fill(1));
  return kept.map((chunk, index) => ({ ...chunk, duration_ms: (fits ? lengths : even)[index] }));
}

/** Gives each chunk the minimum, and distributes the rest by weight, in whole milliseconds that add up. */
function shares(totalMs: number, given: readonly number[]): number[] {
  const weights = given.some((weight) => weight > 0) ? given : given.map(() => 1);
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const restMs = totalMs - PART_MIN_MS * weights.length;
  let weightSoFar = 0;
  let msSoFar = 0;
  return weights.map((weight) => {
    weightSoFar += weight;
    const upToMs = Math.round((restMs * weightSoFar) / all);
    const shareMs = PART_MIN_MS + upToMs - msSoFar;
    msSoFar = upToMs;
    return shareMs;
  });
}

/** A plan has no switch for instrumental music: the styles of each chunk request it. */
export function voiceless(chunk: JsonObject): JsonObject {
  const styles = (name: string, style: string): unknown[] => {
    const own: unknown = chunk[name];
    const others = (Array.isArray(own) ? (own as unknown[]) : []).filter((other) => other !== style);
    return [style, ...others].slice(0, STYLES_MAX);
  };
  return {
    ...chunk,
    positive_styles: styles("positive_styles", "instrumental"),
    negative_styles: styles("negative_styles", "vocals"),
  };
}

/** The id under which ElevenLabs stores a track, from the track's reference; null: it stores none. */
export function songIdIn(reference: ProviderReference | null): string | null {
  const { songId } = reference ?? {};
  return isSongId(songId) ? songId : null;
}

export function isSongId(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= 100;
}

function refusal(message: string): ProviderFailure {
  return new ProviderFailure("invalid_input", message, { billable: "no" });
}
