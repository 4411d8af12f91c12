import { fromBufferPromise } from "yauzl";
import { asObject, fileEndingOf, lyricsOf, NO_TAGS, ProviderFailure, timedWord } from "../sdk/index.js";
import type {
  ApiResponse,
  JsonObject,
  MusicRequest,
  ProbeResult,
  ProviderAsset,
  ProviderTrack,
  SplitRequest,
} from "../sdk/index.js";
import { partsOf } from "./multipart.js";
import { wordsIn } from "./plan.js";
import { isSongId } from "./references.js";

/** Names of stems, by a word of the file's name; the names themselves are not documented. */
const STEM_WORDS: readonly (readonly [word: RegExp, label: string])[] = [
  [/(^|_)(no_vocals?|instrumentals?|accompaniment)(_|$)/, "instrumental"],
  [/(^|_)vocals?(_|$)/, "vocals"],
  [/(^|_)drums?(_|$)/, "drums"],
  [/(^|_)bass(_|$)/, "bass"],
  [/(^|_)guitars?(_|$)/, "guitar"],
  [/(^|_)piano(_|$)/, "piano"],
  [/(^|_)other(_|$)/, "other"],
];

/** Statuses of a subscription that pays for work. */
const PAYING: ReadonlySet<unknown> = new Set(["active", "trialing", "free"]);

/** Credits are called characters there. */
export function probeResultOf({
  character_count: used,
  character_limit: limit,
  tier,
  status,
}: JsonObject): ProbeResult {
  const left = typeof used === "number" && typeof limit === "number" ? Math.max(0, limit - used) : null;
  const warnings = [
    left === 0 ? ["No credits are left in this billing period."] : [],
    tier === "free" ? ["The plan is free: the music API needs a paid one."] : [],
    typeof status === "string" && !PAYING.has(status) ? [`The subscription is ${status}.`] : [],
  ].flat();
  return { credit: left === null ? null : { amount: left, unit: "credits" }, warnings };
}

/** Converts seconds to milliseconds; without a default of the model, ElevenLabs chooses the length. */
function lengthOf({ model, durationSeconds }: MusicRequest): JsonObject {
  const seconds = durationSeconds ?? model.duration?.defaultSeconds;
  return seconds === undefined ? {} : { music_length_ms: seconds * 1_000 };
}

/**
 * The body of a composition by prompt. It accepts no seed, which needs a plan; only this body accepts length and
 * `force_instrumental`.
 */
export function promptBody(request: MusicRequest): JsonObject {
  const { prompt, model, instrumental } = request;
  return { prompt, model_id: model.upstream, ...lengthOf(request), force_instrumental: instrumental };
}

/** The body of the request for a plan, of the whole or of a part this long. */
export function planBody(request: MusicRequest, partMs?: number): JsonObject {
  const { prompt, model } = request;
  const length = partMs === undefined ? lengthOf(request) : { music_length_ms: partMs };
  return { prompt, model_id: model.upstream, ...length };
}

/**
 * The track in the response to `detailed`; null when it contains no audio.
 *
 * @param isStored whether the request asked ElevenLabs to store the song; its id is then stored with the track
 */
export function trackIn({ bytes, headers }: ApiResponse, isStored: boolean): ProviderTrack | null {
  const contentType = headers.get("content-type") ?? "";
  const parts = contentType.startsWith("audio/") ? [{ contentType, bytes }] : partsOf(bytes, contentType);
  const audio = parts.find((part) => part.contentType !== "application/json" && part.bytes.length > 0);
  if (audio === undefined) return null;
  const details = asObject(parsed(parts.find((part) => part.contentType === "application/json")?.bytes));
  const { song_metadata: metadata } = details;
  const songId = isStored ? headers.get("song-id") : null;
  const { title, genres, is_explicit: isExplicit } = asObject(metadata);
  const words = (Array.isArray(genres) ? genres : [])
    .filter((word) => typeof word === "string")
    .map((word) => word.trim().toLowerCase());
  return {
    title: typeof title === "string" && title.trim() !== "" ? title.trim() : null,
    bpm: null,
    tags: {
      ...NO_TAGS,
      genre: [...new Set(words)].filter((word) => word !== ""),
      other: isExplicit === true ? ["explicit"] : [],
    },
    assets: [
      {
        role: "mix",
        label: "full",
        contentType: null,
        durationSeconds: null,
        source: { kind: "bytes", bytes: audio.bytes },
      },
    ],
    ...(isSongId(songId) ? { reference: { songId } } : {}),
    ...lyricsIn(details),
  };
}

/** The lyrics: the words of the sung plan, and their times; without a plan the words that have times. */
function lyricsIn({ composition_plan: plan, words_timestamps: listed }: JsonObject): Pick<ProviderTrack, "lyrics"> {
  const words = (Array.isArray(listed) ? listed : [])
    .map(asObject)
    .flatMap(({ word, start_ms: start, end_ms: end }) => timedWord(word, start, end));
  return lyricsOf(wordsIn(plan) || words.map(({ text }) => text).join(" "), words);
}

/** The form of a split. @throws {ProviderFailure} `unavailable`: the track cannot be read; nothing was sent */
export async function splitForm({ operation, source }: SplitRequest): Promise<FormData> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  try {
    for await (const chunk of source.open()) chunks.push(new Uint8Array(chunk));
  } catch (cause) {
    throw new ProviderFailure("unavailable", "The track to split could not be read.", {
      cause,
      billable: "no",
    });
  }
  const form = new FormData();
  form.append("file", new Blob(chunks, { type: source.contentType }), `track.${fileEndingOf(source.contentType)}`);
  form.append("stem_variation_id", operation === "vocal_removal" ? "two_stems_v1" : "six_stems_v1");
  return form;
}

/** The stems in a ZIP; null when it is not a ZIP, or is empty. */
export async function stemsIn(
  archive: Uint8Array,
  operation: SplitRequest["operation"],
): Promise<ProviderAsset[] | null> {
  const names = await namesIn(archive);
  if (names === null || names.length === 0) return null;
  const labels = names.map(labelOf);
  const isPair = operation === "vocal_removal" && labels.length === 2 && labels.includes("vocals");
  return names.map((entry, index): ProviderAsset => {
    const label = labels[index] ?? "";
    const before = labels.slice(0, index).filter((other) => other === label).length;
    // Of two files, the one that is not the vocals is the instrumental.
    const whole = isPair && label !== "vocals" ? "instrumental" : label;
    const source = { kind: "archive", archive: { kind: "bytes", bytes: archive }, entry } as const;
    return {
      role: "stem",
      label: before === 0 ? whole : `${whole}_${before + 1}`,
      contentType: null,
      durationSeconds: null,
      source,
    };
  });
}

/** Stems and the fields next to them; a larger response has no stems. */
const ENTRIES_MAX = 100;

async function namesIn(archive: Uint8Array): Promise<string[] | null> {
  const names: string[] = [];
  try {
    const zip = await fromBufferPromise(Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength), {
      lazyEntries: true,
    });
    if (zip.entryCount > ENTRIES_MAX) return null;
    for await (const { fileName } of zip.eachEntry()) {
      if (!/(\/|\.json|\.txt)$/i.test(fileName)) names.push(fileName);
    }
  } catch {
    return null;
  }
  return names;
}

function labelOf(fileName: string): string {
  const base = fileName.slice(fileName.lastIndexOf("/") + 1).replace(/\.[a-z0-9]+$/i, "");
  const word = base
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
  const [, known] = STEM_WORDS.find(([pattern]) => pattern.test(word)) ?? [];
  return known ?? (/^[a-z]/.test(word) ? word : `stem_${word}`);
}

function parsed(bytes: Uint8Array | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(bytes ?? []).toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}
