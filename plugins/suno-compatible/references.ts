import { ProviderFailure } from "../sdk/index.js";
import type {
  DurationBounds,
  JsonObject,
  MusicReference,
  MusicRequest,
  ReferenceModes,
  SourceAudio,
} from "../sdk/index.js";

/** Files are kept there for two weeks; an own track of before is fetched like any other. */
const OWN_LIVES_MS = 14 * 86_400_000;

/** The modes of every model, for tracks of at most so many seconds. */
export function referencesUpTo(maxSeconds: number): ReferenceModes {
  const anyTrack = { sources: "any", needsUrl: true, maxSeconds, takesStrength: true } as const;
  return { extend: anyTrack, cover: anyTrack };
}

/** The route and the body of work from a track, without the fields of custom mode that every request has. */
export function referencedOf(
  request: MusicRequest,
  reference: MusicReference,
  { dialect, now }: { readonly dialect: string; readonly now: number },
): { readonly path: string; readonly json: JsonObject } {
  const { mode, source, strength } = reference;
  if (request.lyrics === null && !request.instrumental)
    throw refused(`To ${mode} a track it needs lyrics, or an instrumental.`);
  const audioWeight = strength === null ? undefined : Number(strength.toFixed(2));
  if (mode === "cover") {
    const duration = coverSeconds(request, source);
    const json = { customMode: true, uploadUrl: urlOf(source), duration, audioWeight };
    return { path: "/api/v1/generate/upload-cover", json };
  }
  if (request.durationSeconds !== null) throw refused("It takes no duration to extend a track.");
  const common = { defaultParamFlag: true, continueAt: continueAtOf(reference), audioWeight };
  const own = ownAudioOf(source, dialect, request.model.upstream, now);
  if (own !== null) return { path: "/api/v1/generate/extend", json: { ...common, ...own } };
  return { path: "/api/v1/generate/upload-extend", json: { ...common, uploadUrl: urlOf(source) } };
}

/**
 * The ids of a track that this vendor created recently, if the requested model created it: another model cannot
 * continue it.
 */
function ownAudioOf(
  { reference }: SourceAudio,
  dialect: string,
  upstream: string | undefined,
  now: number,
): { readonly taskId: unknown; readonly audioId: unknown } | null {
  const { dialect: madeAt, taskId, audioId, model, submittedAt } = reference ?? {};
  const isKept = typeof submittedAt === "number" && now - submittedAt < OWN_LIVES_MS;
  return madeAt === dialect && model === upstream && isKept ? { taskId, audioId } : null;
}

/** Seconds, above 0 and below the length of the track: a hundredth before its end is the end. */
function continueAtOf({ fromSeconds, source: { durationSeconds } }: MusicReference): number {
  if (durationSeconds === null) {
    if (fromSeconds === null) throw refused("How long the track is is not known: name the point to go on from.");
    return above0(fromSeconds);
  }
  const end = (Math.floor(durationSeconds * 100) - 1) / 100;
  return above0(fromSeconds === null ? end : Math.min(fromSeconds, end));
}

function above0(seconds: number): number {
  if (!(seconds > 0)) throw refused("It goes on with a track from a point behind its beginning.");
  return seconds;
}

/** As long as the track unless the request has a duration: the vendor's default is 20 seconds. */
function coverSeconds({ model, durationSeconds }: MusicRequest, source: SourceAudio): number | undefined {
  if (model.duration === null) return undefined;
  return durationSeconds ?? within(model.duration, source.durationSeconds);
}

function within({ minSeconds, maxSeconds, defaultSeconds }: DurationBounds, seconds: number | null): number {
  return seconds === null ? defaultSeconds : Math.min(Math.max(Math.round(seconds), minSeconds), maxSeconds);
}

function urlOf({ url }: SourceAudio): string {
  if (url === null) throw refused("It fetches tracks by a link, and this installation has no public address.");
  return url;
}

function refused(why: string): ProviderFailure {
  return new ProviderFailure("invalid_input", why, { billable: "no" });
}
