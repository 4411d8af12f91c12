import { asObject, isLink, NO_TAGS, ProviderFailure } from "../sdk/index.js";
import type {
  JsonObject,
  MusicRequest,
  ProviderAsset,
  ProviderModel,
  ProviderReference,
  ProviderTrack,
  Snapshot,
} from "../sdk/index.js";
import type { Kind, Zip } from "./client.js";
import { lyricsIn } from "./lyrics.js";

const NEXT_POLL_MS = 5_000;
const LINKS_LIVE_MS = 30 * 86_400_000;

/** Their own default is two, each billed. */
const TRACKS_DEFAULT = 1;

/** No mark of a moderator's refusal is documented: these words are taken for one. */
const REFUSED = /moderat|sensitive|violat|prohibit|inappropriate|offensive|copyright|policy/i;

/** A call that starts billed work, and the route by which it is polled. */
export interface Generation {
  readonly path: string;
  readonly json: JsonObject;
  readonly kind: Kind;
}

/** A generation without a track. @throws {ProviderFailure} for an option that its route does not have */
export function generationOf(request: MusicRequest): Generation {
  const { model, prompt, lyrics, instrumental, options } = request;
  const common = { model: model.upstream, prompt, n: tracksOf(model), stream: false };
  if (instrumental) {
    if (optionAgainst(request, "vocal_gender")) {
      const why = "An instrumental has no singer: it takes no vocal_gender.";
      throw new ProviderFailure("invalid_input", why, { billable: "no" });
    }
    return { path: "/v1/instrumental/generate", json: common, kind: "instrumental" };
  }
  const song = { ...common, gender: options["vocal_gender"] };
  if (lyrics === null) return { path: "/v1/song/easy-generate", json: song, kind: "song" };
  return { path: "/v1/song/generate", json: { ...song, lyrics }, kind: "song" };
}

/** How many tracks a generation creates. */
export function tracksOf({ options = {} }: ProviderModel): unknown {
  return options["tracks"] ?? TRACKS_DEFAULT;
}

/** Whether the caller chose an option that the route does not have; an operator's default is left out there. */
export function optionAgainst({ model, options }: MusicRequest, name: string): boolean {
  return options[name] !== undefined && options[name] !== model.requestOptions?.[name]?.default;
}

/** The snapshot for a task. An unknown status does not end it. @throws {ProviderFailure} */
export function snapshotOf(task: JsonObject, kind: Kind): Snapshot {
  const { status, failed_reason: reason } = task;
  const why = typeof reason === "string" ? reason.slice(0, 300) : "";
  switch (status) {
    case "succeeded":
      return { state: "completed", tracks: tracksIn(task, kind) };
    case "failed": {
      const failure = REFUSED.test(why) ? "content_rejected" : "failed";
      throw new ProviderFailure(failure, `The task failed: ${why}`, { providerCode: status });
    }
    case "timeouted":
      throw new ProviderFailure("timeout", `The task ran out of time: ${why}`);
    case "cancelled":
      throw new ProviderFailure("cancelled", `The task was cancelled: ${why}`);
    default:
      return { state: "running", nextPollMs: NEXT_POLL_MS };
  }
}

function tracksIn({ choices, finished_at: finishedAt }: JsonObject, kind: Kind): ProviderTrack[] {
  const expires = typeof finishedAt === "number" ? { expiresAt: finishedAt * 1_000 + LINKS_LIVE_MS } : {};
  const ordered = (Array.isArray(choices) ? choices : []).map(asObject).sort((a, b) => placeOf(a) - placeOf(b));
  const tracks = ordered.flatMap((choice): ProviderTrack[] => {
    const { id, url, flac_url: flac, wav_url: wav, duration } = choice;
    const [mix] = [url, flac, wav].filter(isLink);
    const [master] = [flac, wav].filter(isLink);
    if (mix === undefined) return [];
    // Milliseconds, unlike ours.
    const durationSeconds = typeof duration === "number" && duration > 0 ? duration / 1_000 : null;
    const asset = (role: ProviderAsset["role"], link: string): ProviderAsset => ({
      role,
      label: "full",
      contentType: null,
      durationSeconds,
      source: { kind: "url", url: link, ...expires },
    });
    const assets = [asset("mix", mix), ...(master === undefined || master === mix ? [] : [asset("master", master)])];
    // No other call accepts ids of instrumentals.
    const reference = kind === "song" ? referenceOf(id, finishedAt) : null;
    const own = reference === null ? {} : { reference };
    return [{ title: null, bpm: null, tags: NO_TAGS, assets, ...own, ...lyricsIn(choice) }];
  });
  if (tracks.length === 0) throw new ProviderFailure("failed", "The task succeeded, and there are no files.");
  return tracks;
}

/** The reference to a track of a task; null when its id or its age is not reported. */
function referenceOf(songId: unknown, madeAtSeconds: unknown): ProviderReference | null {
  return typeof songId === "string" && songId !== "" && typeof madeAtSeconds === "number"
    ? { songId, madeAt: madeAtSeconds * 1_000 }
    : null;
}

/** The files of a split, by our labels. */
export function stemsOf(
  { url, expiresAt }: Zip,
  files: Iterable<readonly [label: string, entry: string]>,
): ProviderAsset[] {
  const archive = { kind: "url", url, ...(expiresAt === null ? {} : { expiresAt }) } as const;
  return [...files].map(([label, entry]) => ({
    role: "stem",
    label,
    contentType: null,
    durationSeconds: null,
    source: { kind: "archive", archive, entry },
  }));
}

function placeOf({ index }: JsonObject): number {
  return typeof index === "number" ? index : 0;
}
