import { asObject, isLink, NO_TAGS, ProviderFailure } from "../sdk/index.js";
import type { JsonObject, MusicRequest, ProviderAsset, ProviderTrack, Snapshot } from "../sdk/index.js";
import type { Kind, Zip } from "./client.js";

const NEXT_POLL_MS = 5_000;
const LINKS_LIVE_MS = 30 * 86_400_000;

/** Their own default is two, each billed. */
const TRACKS_DEFAULT = 1;

/** No mark of a moderator's refusal is documented: these words are taken for one. */
const REFUSED = /moderat|sensitive|violat|prohibit|inappropriate|offensive|copyright|policy/i;

/** Which route a generation takes, what it is sent, and which one it is asked after by. */
export function generationOf({ model, prompt, lyrics, instrumental }: MusicRequest): {
  path: string;
  json: JsonObject;
  kind: Kind;
} {
  const { tracks = TRACKS_DEFAULT, gender } = model.options ?? {};
  const common = { model: model.upstream, prompt, n: tracks, stream: false };
  if (instrumental) return { path: "/v1/instrumental/generate", json: common, kind: "instrumental" };
  if (lyrics === null) return { path: "/v1/song/easy-generate", json: { ...common, gender }, kind: "song" };
  return { path: "/v1/song/generate", json: { ...common, lyrics, gender }, kind: "song" };
}

/** What a task says. A word that is not known does not say that it ended. @throws {ProviderFailure} */
export function snapshotOf(task: JsonObject): Snapshot {
  const { status, failed_reason: reason } = task;
  const why = typeof reason === "string" ? reason.slice(0, 300) : "";
  switch (status) {
    case "succeeded":
      return { state: "completed", tracks: tracksIn(task) };
    case "failed": {
      const kind = REFUSED.test(why) ? "content_rejected" : "failed";
      throw new ProviderFailure(kind, `The task failed: ${why}`, { providerCode: status });
    }
    case "timeouted":
      throw new ProviderFailure("timeout", `The task ran out of time: ${why}`);
    case "cancelled":
      throw new ProviderFailure("cancelled", `The task was cancelled: ${why}`);
    default:
      return { state: "running", nextPollMs: NEXT_POLL_MS };
  }
}

function tracksIn({ choices, finished_at: finishedAt }: JsonObject): ProviderTrack[] {
  const expires = typeof finishedAt === "number" ? { expiresAt: finishedAt * 1_000 + LINKS_LIVE_MS } : {};
  const ordered = (Array.isArray(choices) ? choices : []).map(asObject).sort((a, b) => placeOf(a) - placeOf(b));
  const tracks = ordered.flatMap(({ url, flac_url: flac, wav_url: wav, duration }): ProviderTrack[] => {
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
    return [{ title: null, bpm: null, tags: NO_TAGS, assets }];
  });
  if (tracks.length === 0) throw new ProviderFailure("failed", "The task succeeded, and there are no files.");
  return tracks;
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
