import { ProviderFailure } from "../sdk/index.js";
import type {
  JsonObject,
  MusicReference,
  MusicRequest,
  ProviderModel,
  ReferenceCapability,
  SourceAudio,
} from "../sdk/index.js";
import { type Generation, optionAgainst, tracksOf } from "./map.js";

/** The files that `files/upload` accepts; tracks are uploaded unless Mureka created them recently. */
const UPLOAD = { sources: "any", contentTypes: ["audio/mpeg", "audio/mp4"], maxBytes: 10_000_000 } as const;

/** Where an extension may begin, in milliseconds. A later point than the end means the end there. */
const EXTEND_AT = { minimum: 8_000, maximum: 420_000 };

/** Its own tracks can be named by their id for a month. */
const OWN_LIVES_MS = 29 * 86_400_000;

export const EXTEND: ReferenceCapability = { ...UPLOAD, maxSeconds: EXTEND_AT.maximum / 1_000 };
export const COVER: ReferenceCapability = { ...UPLOAD, maxSeconds: 350 };

/** Upstream names by mode. `auto` is sent as no model: the vendor chooses. */
const MODELS: Readonly<Record<string, readonly string[]>> = {
  extend: ["auto", "mureka-8", "mureka-7.6"],
  // The route takes no model. It is the one of Mureka 8.
  cover: ["auto", "mureka-8"],
};

/** The issue of the modes of a model that an operator configured; null when there is none. */
export function referencesIssue({ upstream, references = {} }: ProviderModel): string | null {
  const wrong = Object.keys(references).find((mode) => !(MODELS[mode] ?? []).includes(upstream ?? ""));
  if (wrong === undefined) return null;
  const able = MODELS[wrong];
  return `has references.${wrong}; ${able === undefined ? "allowed: extend, cover" : `only for ${able.join(", ")}`}`;
}

/** The id of a track that Mureka created and still stores; null: it must be uploaded. */
export function ownSongIdOf({ reference }: SourceAudio, now: number): string | null {
  const { songId, madeAt } = reference ?? {};
  return typeof songId === "string" && typeof madeAt === "number" && now - madeAt < OWN_LIVES_MS ? songId : null;
}

/** The purpose of an upload: its id is valid for that alone. */
export function purposeOf({ mode }: MusicReference): string {
  return mode === "cover" ? "remix" : "audio";
}

/** @throws {ProviderFailure} for a request that no mode of Mureka supports, before anything is sent */
export function checkReferenced(request: MusicRequest, { mode, fromSeconds }: MusicReference): void {
  if (request.instrumental) throw refused(`It can ${mode} songs, not make an instrumental of a track.`);
  if (optionAgainst(request, "vocal_gender")) throw refused(`It takes no vocal_gender to ${mode} a track.`);
  if (mode !== "extend") return;
  if (request.lyrics === null) throw refused("To extend a track it needs the lyrics of what is added.");
  if (fromSeconds !== null && !isWithin(Math.round(fromSeconds * 1_000)))
    throw refused(`It extends from ${EXTEND_AT.minimum / 1_000} to ${EXTEND_AT.maximum / 1_000} s of a track.`);
}

/** The call that works from a track, which `source` names: `song_id` or `upload_audio_id`. */
export function referencedOf(
  { model, prompt, lyrics }: MusicRequest,
  { mode, fromSeconds }: MusicReference,
  source: JsonObject,
): Generation {
  const words = lyrics === null ? {} : { lyrics };
  if (mode === "cover")
    return { path: "/v1/song/remix", json: { ...source, prompt, ...words, n: tracksOf(model) }, kind: "song" };
  const json = {
    ...source,
    ...words,
    extend_at: fromSeconds === null ? EXTEND_AT.maximum : Math.round(fromSeconds * 1_000),
    ...(model.upstream === "auto" ? {} : { model: model.upstream }),
  };
  return { path: "/v1/song/extend", json, kind: "song" };
}

function isWithin(at: number): boolean {
  return at >= EXTEND_AT.minimum && at <= EXTEND_AT.maximum;
}

function refused(why: string): ProviderFailure {
  return new ProviderFailure("invalid_input", why, { billable: "no" });
}
