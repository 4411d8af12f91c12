import { isLink, lyricsOf, NO_TAGS, ProviderFailure } from "../sdk/index.js";
import type { JsonObject, MusicRequest, ProviderAsset, ProviderCost, ProviderTrack, Snapshot } from "../sdk/index.js";
import { saysRefused } from "./content.js";

/** How long one of two tracks waits for the other before it is returned alone. */
const PARTIAL_AFTER_MS = 10 * 60_000;

/** The body of a generation. It requests neither cover nor word times: their cost is not documented. */
export function bodyOf(request: MusicRequest): JsonObject {
  const { model, prompt, lyrics, instrumental, options, callbackUrl } = request;
  const { vocal_gender: gender } = options;
  return {
    model: model.upstream,
    prompt,
    ...(lyrics === null || instrumental ? {} : { lyrics }),
    make_instrumental: instrumental,
    ...(gender === undefined || instrumental ? {} : { gender }),
    generate_album_cover: false,
    lyrics_timestamps: false,
    ...(callbackUrl === null ? {} : { webhook_url: callbackUrl }),
  };
}

/** The snapshot for a task. @throws {ProviderFailure} */
export function snapshotOf(task: JsonObject, now: number, nextPollMs: number): Snapshot {
  const status = String(task["status"]).toUpperCase();
  switch (status) {
    case "IN_QUEUE":
    case "IN_PROGRESS":
    case "PENDING":
    case "PROCESSING":
      return { state: "running", nextPollMs };
    case "PARTIAL_COMPLETED":
      return isOld(task, now) ? completedOf(task) : { state: "running", nextPollMs };
    case "COMPLETED":
      return completedOf(task);
    case "FAILED":
    case "ERROR": {
      const why = wordsIn(task) ?? "no reason given";
      const kind = saysRefused(why) ? "content_rejected" : "failed";
      throw new ProviderFailure(kind, `The task failed: ${why}`, { providerCode: status });
    }
    default:
      // An unknown status does not say that the work failed: the host polls again.
      throw new ProviderFailure("unavailable", `The task has the unknown status ${status.slice(0, 50)}.`);
  }
}

function completedOf(task: JsonObject): Snapshot {
  const tracks = [1, 2].flatMap((number): ProviderTrack[] => {
    const [mix, duration, title, lyrics] = ["conversion_path", "conversion_duration", "title", "lyrics"].map(
      (name) => task[`${name}_${number}`],
    );
    if (!isFile(mix)) return [];
    const durationSeconds = typeof duration === "number" && duration > 0 ? duration : null;
    const asset: ProviderAsset = {
      role: "mix",
      label: "full",
      contentType: null,
      durationSeconds,
      source: { kind: "url", url: mix },
    };
    const tags = { ...NO_TAGS, other: stylesIn(task) };
    const message = { title: typeof title === "string" && title !== "" ? title : null, ...lyricsOf(lyrics) };
    return [{ ...message, bpm: null, tags, assets: [asset] }];
  });
  // Without a code the host polls again for a while: links may follow the status.
  if (tracks.length === 0) throw new ProviderFailure("failed", "The task completed without files.");
  const cost = costOf(task);
  return { state: "completed", tracks, ...(cost === null ? {} : { cost }) };
}

/** The API returns a link without a file name before the file exists. */
function isFile(link: unknown): link is string {
  return isLink(link) && new URL(link).pathname.length > 1;
}

function isOld({ updatedAt }: JsonObject, now: number): boolean {
  const changed = typeof updatedAt === "string" ? Date.parse(updatedAt) : Number.NaN;
  return now - changed > PARTIAL_AFTER_MS;
}

function wordsIn({ status_msg: statusMessage, message }: JsonObject): string | null {
  const [words] = [statusMessage, message].filter((text) => typeof text === "string" && text !== "");
  return typeof words === "string" ? words.slice(0, 300) : null;
}

function stylesIn({ music_style: styles }: JsonObject): string[] {
  const words = typeof styles === "string" ? styles.toLowerCase().split(",") : [];
  return words.map((word) => word.trim()).filter((word) => word !== "");
}

function costOf({ conversion_cost: amount }: JsonObject): ProviderCost | null {
  return typeof amount === "number" ? { amount, unit: "credits" } : null;
}
