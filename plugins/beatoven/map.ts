import { asObject, isLink, NO_TAGS, ProviderFailure } from "../sdk/index.js";
import type { JsonObject, MusicRequest, ProviderAsset, ProviderTrack, Snapshot } from "../sdk/index.js";

/** Formats of the API that Fermata can store; it cannot store bare AAC. */
export const FORMATS: readonly string[] = ["wav", "mp3"];

const STEMS = ["bass", "chords", "melody", "percussion"];

/** The body of a generation: the prompt names the length. */
export function compositionOf({ model, prompt, durationSeconds }: MusicRequest): JsonObject {
  const { format = "mp3", looping = false } = model.options ?? {};
  return {
    prompt: { text: durationSeconds === null ? prompt : `${durationSeconds} seconds ${prompt}` },
    format,
    looping,
  };
}

/** The result of a task. @throws {ProviderFailure} when it failed, or its status is unknown */
export function snapshotOf(task: JsonObject, pollMs: number): Snapshot {
  const { status, meta } = task;
  switch (status) {
    case "started":
    case "composing":
    case "running":
      return { state: "running", nextPollMs: pollMs };
    case "composed":
      return { state: "completed", tracks: [trackIn(asObject(meta))] };
    case "failed":
      throw new ProviderFailure("failed", `The task failed${reasonIn(task)}.`, { providerCode: status });
    default:
      throw new ProviderFailure(
        "unavailable",
        `The response has an unknown status: ${JSON.stringify(status)?.slice(0, 100)}.`,
      );
  }
}

function trackIn({ track_url: url, stems_url: stems }: JsonObject): ProviderTrack {
  if (!isLink(url)) throw new ProviderFailure("failed", "The task is composed, and there is no file.");
  const links = asObject(stems);
  const assets = STEMS.flatMap((label): ProviderAsset[] => {
    const link = links[label];
    return isLink(link) ? [{ role: "stem", label, ...NOT_REPORTED, source: { kind: "url", url: link } }] : [];
  });
  return {
    title: null,
    bpm: null,
    tags: NO_TAGS,
    assets: [{ role: "mix", label: "full", ...NOT_REPORTED, source: { kind: "url", url } }, ...assets],
  };
}

/** Whether stems have the format of the track is not documented. */
const NOT_REPORTED = { contentType: null, durationSeconds: null } as const;

function reasonIn({ error, detail }: JsonObject): string {
  const message = [error, detail].filter((value) => typeof value === "string" && value !== "");
  return message.length === 0 ? "" : `: ${message.join(": ").slice(0, 300)}`;
}
