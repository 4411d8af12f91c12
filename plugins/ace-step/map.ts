import { asObject, isLink, lyricsOf, NO_TAGS, parseJson, ProviderFailure } from "../sdk/index.js";
import type {
  JsonObject,
  MusicRequest,
  ProviderFailureKind,
  ProviderTrack,
  Running,
  Snapshot,
  TrackTags,
  UrlSource,
} from "../sdk/index.js";
import { chosenOf, optionsOf } from "./options.js";
import { referenceFields } from "./references.js";

const NEXT_POLL_MS = 4_000;

/** The API has no flag for it. */
const INSTRUMENTAL = { lyrics: "[Instrumental]", vocal_language: "unknown" };

/** Where the files of finished tasks are, relative to the base URL. */
const FILE_PATH = "/v1/audio?";

/**
 * The body of a submission: always one track, though the server's default is two.
 *
 * @throws {ProviderFailure} `invalid_input`: the mode cannot use the track that the request names
 */
export function taskOf(request: MusicRequest, audioFormat: string): JsonObject {
  const { model, prompt, lyrics, durationSeconds, instrumental, reference } = request;
  const { seed, bpm, key, language } = chosenOf(request);
  const { thinking = false, inferenceSteps, guidanceScale, shift, vocalLanguage } = optionsOf(model);
  return {
    prompt,
    ...(instrumental ? INSTRUMENTAL : { lyrics: lyrics ?? "", vocal_language: language ?? vocalLanguage }),
    audio_duration: durationSeconds ?? model.duration?.defaultSeconds,
    batch_size: 1,
    audio_format: audioFormat,
    model: model.upstream,
    thinking,
    inference_steps: inferenceSteps,
    guidance_scale: guidanceScale,
    shift,
    bpm,
    key_scale: key,
    // The server ignores a seed unless this flag is false.
    ...(seed === undefined ? { use_random_seed: true } : { use_random_seed: false, seed }),
    ...(reference === undefined ? {} : referenceFields(reference, request)),
  };
}

/** A task at one poll. */
export interface TaskState {
  readonly snapshot: Snapshot | ProviderFailure;
  /** Changes while the server works on the task; null while it does not. */
  readonly progress: string | null;
  /** The models that created its tracks, by the server's names. */
  readonly models: readonly string[];
}

/** @param sourceOf the source of a `file` of the response; null when it is not one of the server's files */
export function readTask(task: JsonObject | undefined, sourceOf: (file: string) => UrlSource | null): TaskState {
  const { status, result } = task ?? {};
  const entries = typeof result === "string" ? parseJson(result) : result;
  if (!Array.isArray(entries)) return failed("unavailable", "The response has no result of the task.");
  const [first, ...others] = entries.map(asObject);
  if (status === 0) {
    if (first === undefined) return failed("gone", "The server does not know the task, or no longer.");
    const { progress, stage } = first;
    const isQueued = stage === "queued";
    return {
      snapshot: { state: "running", nextPollMs: NEXT_POLL_MS, ...shareOf(isQueued ? 0 : progress) },
      progress: isQueued ? null : `${String(progress)} ${String(stage)}`,
      models: [],
    };
  }
  if (status === 1) return finished(first === undefined ? [] : [first, ...others], sourceOf);
  if (status === 2) return failureIn(first ?? {});
  return failed("unavailable", `The status ${JSON.stringify(status)} is unknown.`);
}

/** The server says it from 0 to 1, half of it for the model of the words. */
function shareOf(progress: unknown): Pick<Running, "progress"> {
  return typeof progress === "number" ? { progress: { percent: progress * 100 } } : {};
}

function failed(kind: ProviderFailureKind, message: string, providerCode?: string): TaskState {
  return { snapshot: new ProviderFailure(kind, message, { providerCode }), progress: null, models: [] };
}

function finished(entries: readonly JsonObject[], sourceOf: (file: string) => UrlSource | null): TaskState {
  const named = entries.filter(({ file }) => typeof file === "string" && file !== "");
  const tracks = named.flatMap((entry): ProviderTrack[] => {
    const source = sourceOf(String(entry["file"]));
    return source === null ? [] : [trackOf(entry, source)];
  });
  const models = entries.flatMap(({ dit_model: model }) => (typeof model === "string" && model !== "" ? [model] : []));
  if (tracks.length > 0) return { snapshot: { state: "completed", tracks }, progress: null, models };
  const why =
    named.length === 0
      ? "The task succeeded without a file: see ffmpeg and the disk space of the server."
      : `The task succeeded, and its file does not begin with ${FILE_PATH}: is this the server of the web page?`;
  return failed("failed", why, "no_file");
}

/** The reason is only in the server's log, unless the model did not load. */
function failureIn({ status, error }: JsonObject): TaskState {
  if (status === 0) return failed("timeout", "The task did not end within an hour of its submission.");
  // The reason is at the end of a traceback.
  const [why = ""] = typeof error === "string" ? error.trim().split("\n").slice(-1) : [];
  const message = why === "" ? "the reason is in the server's log" : why.slice(0, 200);
  return failed("failed", `The task failed: ${message}`, "failed");
}

function trackOf({ metas, lyrics }: JsonObject, source: UrlSource): ProviderTrack {
  const { bpm, genres } = asObject(metas);
  return {
    title: null,
    bpm: numberIn(bpm),
    tags: tagsIn(genres),
    // The server sends opus as audio/mpeg, and the requested length as the real one.
    assets: [{ role: "mix", label: "full", contentType: null, durationSeconds: null, source }],
    ...lyricsOf(lyrics),
  };
}

/** The server writes `N/A` for a missing value. */
function numberIn(value: unknown): number | null {
  const number = typeof value === "string" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number > 0 ? number : null;
}

function tagsIn(genres: unknown): TrackTags {
  if (typeof genres !== "string" || genres === "N/A") return NO_TAGS;
  const words = genres.split(",").map((word) => word.trim().toLowerCase());
  return { ...NO_TAGS, genre: words.filter((word) => word !== "") };
}

/** The key is sent with files of the server's own origin only. */
export function sourcesOf(baseUrl: string, headers: { readonly [name: string]: string }) {
  return (file: string): UrlSource | null => {
    if (file.startsWith(FILE_PATH)) return { kind: "url", url: `${baseUrl}${file}`, headers };
    if (!isLink(file)) return null;
    const isOwn = new URL(file).origin === new URL(baseUrl).origin;
    return { kind: "url", url: file, ...(isOwn ? { headers } : {}) };
  };
}
