import { ProviderFailure, type ReferenceModes } from "../sdk/index.js";
import type { MusicReference, MusicRequest, ProviderCost, ProviderModel, SourceLimits } from "../sdk/index.js";

/** The only older model that replaces parts; its form does not name it. */
const INPAINTS_AT_2 = "stable-audio-2.5";

/** Of a track to work from. */
const SOURCE_MIN_SECONDS = 6;

/** Half of the track is kept where the request does not say: Stability's default keeps nothing. */
const USUAL_STRENGTH = 0.5;

/** The lowest value that Stability accepts, where it is not 0. */
const STRENGTH_MIN: Readonly<Record<string, number>> = { "stable-audio-2.5": 0.01 };

/** A whole request has at most 50 MB (2 and 2.5) or 100 MB (3); the rest of the form fits into what is left. */
const FORM_BYTES = 100_000;

/** Modes of Stable Audio 2.5 and 3; Stable Audio 2 replaces no parts. */
export function referencesOf(endpoint: "stable-audio" | "stable-audio-2", upstreamCost: ProviderCost): ReferenceModes {
  const [megabytes, maxSeconds] = endpoint === "stable-audio" ? [100, 380] : [50, 190];
  const limits: SourceLimits = {
    sources: "any",
    contentTypes: ["audio/mpeg", "audio/wav"],
    maxBytes: megabytes * 1_000_000 - FORM_BYTES,
    maxSeconds,
    upstreamCost,
  };
  return { cover: { ...limits, takesStrength: true }, inpaint: limits };
}

/** The issue of the modes of a model; null when there is none. */
export function referencesIssue({ upstream, references = {}, options = {} }: ProviderModel): string | null {
  if (references.extend !== undefined) return "has references.extend; Stable Audio has cover and inpaint";
  const inpaints = options["endpoint"] === "stable-audio" || upstream === INPAINTS_AT_2;
  if (references.inpaint === undefined || inpaints) return null;
  return `has references.inpaint; at stable-audio-2 only ${INPAINTS_AT_2} replaces parts`;
}

/** What a form has in addition to that of a plain generation, by name; undefined leaves out what that has. */
type Fields = { readonly [name: string]: string | number | undefined };

/** @throws {ProviderFailure} `invalid_input`: a track that Stable Audio does not take */
export function referenceFields(request: MusicRequest, reference: MusicReference): Fields {
  const { durationSeconds } = reference.source;
  if (durationSeconds !== null && durationSeconds < SOURCE_MIN_SECONDS)
    throw refusal(`Stability takes tracks from ${SOURCE_MIN_SECONDS} s.`);
  return reference.mode === "inpaint" ? inpaintFields(request, reference) : coverFields(request, reference);
}

/** As long as the track, unless the request says otherwise. */
function coverFields({ model, durationSeconds }: MusicRequest, { source, strength }: MusicReference): Fields {
  const { minSeconds = 0, maxSeconds = Number.POSITIVE_INFINITY } = model.duration ?? {};
  const { durationSeconds: own } = source;
  const ownLength = own === null ? null : Math.min(maxSeconds, Math.max(minSeconds, own));
  const duration = durationSeconds ?? ownLength ?? model.duration?.defaultSeconds;
  // Stability's strength is how much is regenerated: 0 returns the track, 1 ignores it.
  const theirs = Number((1 - (strength ?? USUAL_STRENGTH)).toFixed(4));
  return { duration, strength: Math.max(STRENGTH_MIN[model.upstream ?? ""] ?? 0, theirs) };
}

/** Always as long as the track: another length would cut or extend the kept part. */
function inpaintFields({ model }: MusicRequest, { source, fromSeconds, toSeconds }: MusicReference): Fields {
  if (source.durationSeconds === null || fromSeconds === null || toSeconds === null)
    throw refusal("Stability replaces a part only in a track whose length is known.");
  const points = { duration: source.durationSeconds, mask_start: fromSeconds, mask_end: toSeconds };
  const takesModel = model.options?.["endpoint"] === "stable-audio";
  return takesModel ? points : { ...points, model: undefined, cfg_scale: undefined };
}

function refusal(message: string): ProviderFailure {
  return new ProviderFailure("invalid_input", message, { billable: "no" });
}
