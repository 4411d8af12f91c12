import { asObject, isLink, lyricsOf, NO_TAGS, ProviderFailure } from "../sdk/index.js";
import type { Completed, JsonObject, MusicRequest, ProviderTrack } from "../sdk/index.js";
import { saysRefused } from "./content.js";
import { LENGTH_STEP_SECONDS } from "./models.js";

/** How long their files are kept: 168 hours. */
const FILES_LIVE_MS = 7 * 86_400_000;

/**
 * The body of a generation. At most two of tags, lyrics and prompt are taken together, and lyrics need a prompt: tags
 * are never sent. Without lyrics the API writes them, unless the song is instrumental.
 */
export function bodyOf(request: MusicRequest, outputFormat: string): JsonObject {
  const seconds = request.durationSeconds ?? request.model.duration?.defaultSeconds ?? null;
  return {
    ...commonBodyOf(request, outputFormat),
    ...(seconds === null ? {} : { length_range: lengthRangeOf(seconds) }),
  };
}

/** What a generation and an extension have in common. */
export function commonBodyOf(request: MusicRequest, outputFormat: string): JsonObject {
  const { model, prompt, lyrics, instrumental, callbackUrl } = request;
  const { songs = 1 } = model.options ?? {};
  const hasLyrics = lyrics !== null && !instrumental;
  return {
    prompt,
    instrumental,
    output_format: outputFormat,
    ...(hasLyrics ? { lyrics } : {}),
    ...(model.upstream === "v2" ? { num_songs: songs } : {}),
    ...choicesOf(request),
    ...(callbackUrl === null ? {} : { webhook_url: callbackUrl }),
  };
}

/** The options of a request; the tags to avoid are a list there. */
function choicesOf({ options }: MusicRequest): JsonObject {
  const { seed, bpm, prompt_strength, balance_strength, negative_tags: text } = options;
  const tags = typeof text === "string" ? text.split(",").map((tag) => tag.trim()) : [];
  const avoided = tags.filter((tag) => tag !== "");
  const negative_tags = avoided.length === 0 ? undefined : avoided;
  const choices = { seed, bpm, prompt_strength, balance_strength, negative_tags };
  return Object.fromEntries(Object.entries(choices).filter(([, value]) => value !== undefined));
}

/** The narrowest range with a length in it: 100 seconds are within 90 and 120, 90 within 60 and 90. */
function lengthRangeOf(seconds: number): readonly [min: number, max: number] {
  const max = Math.ceil(seconds / LENGTH_STEP_SECONDS) * LENGTH_STEP_SECONDS;
  return [max - LENGTH_STEP_SECONDS, max];
}

/** The songs of a generation whose status is `SUCCESS`. */
export function completedOf(generation: JsonObject): Completed {
  const { song_paths: paths, created_at: createdAt, tags, lyrics } = generation;
  const created = typeof createdAt === "string" ? Date.parse(createdAt) : Number.NaN;
  const expires = Number.isNaN(created) ? {} : { expiresAt: created + FILES_LIVE_MS };
  const bpm = asObject(generation["v2_params"])["bpm"];
  const track = (url: string): ProviderTrack => ({
    title: null,
    bpm: typeof bpm === "number" ? bpm : null,
    tags: { ...NO_TAGS, other: wordsIn(tags) },
    assets: [
      {
        role: "mix",
        label: "full",
        contentType: null,
        durationSeconds: null,
        source: { kind: "url", url, ...expires },
      },
    ],
    ...lyricsOf(lyrics),
  });
  const tracks = (Array.isArray(paths) ? paths : []).filter(isLink).map(track);
  // Without a code the host polls again for a while: paths may follow the status word.
  if (tracks.length === 0) throw new ProviderFailure("failed", "The generation succeeded without files.");
  return { state: "completed", tracks };
}

/** Why a generation failed whose status is `FAILURE`. Nothing is billed for it. */
export function failureOf({ error_message: reason }: JsonObject): ProviderFailure {
  const why = typeof reason === "string" && reason !== "" ? reason.slice(0, 300) : "no reason given";
  const kind = saysRefused(why) ? "content_rejected" : "failed";
  return new ProviderFailure(kind, `The generation failed: ${why}`, { billable: "no", providerCode: "FAILURE" });
}

function wordsIn(tags: unknown): string[] {
  return (Array.isArray(tags) ? tags : []).flatMap((tag) => (typeof tag === "string" ? [tag.toLowerCase()] : []));
}
