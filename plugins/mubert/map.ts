import { asObject, isLink, NO_TAGS, ProviderFailure } from "../sdk/index.js";
import type { JsonObject, MusicRequest, ProbeResult, ProviderTrack, Snapshot } from "../sdk/index.js";

export const PROMPT_MAX_LENGTH = 255;
export const DURATION_MIN_SECONDS = 5;

/** Members of a model's `options`, and their values. */
export const OPTIONS: Readonly<Record<string, readonly (string | number)[]>> = {
  mode: ["track", "jingle", "loop", "mix"],
  intensity: ["low", "medium", "high"],
  format: ["mp3", "wav"],
  bitrate: [32, 96, 128, 192, 256, 320],
};

/** The body of a generation; what the model's options leave out is the licence's default. */
export function creationOf({ model, prompt, durationSeconds }: MusicRequest): JsonObject {
  return { prompt, duration: durationSeconds ?? model.duration?.defaultSeconds, ...model.options };
}

/** The result of a track: each of its generations is a file. @throws {ProviderFailure} when it has failed */
export function snapshotOf(track: JsonObject, now: number, pollMs: number): Snapshot {
  const { generations } = track;
  const all = (Array.isArray(generations) ? generations : []).map(asObject);
  const stages = all.map(({ status }) => stageOf(status));
  if (all.length === 0 || stages.includes("running")) return { state: "running", nextPollMs: pollMs };
  const done = all.filter((_, index) => stages[index] === "done");
  if (done.length === 0) throw new ProviderFailure("failed", "The generation failed.", { providerCode: "failed" });
  const linked = done.filter(({ url }) => isLink(url));
  if (linked.length === 0) throw new ProviderFailure("failed", "The generation is done, and there is no file.");
  const living = linked.filter(({ expired_at: expiresAt }) => (timeOf(expiresAt) ?? Number.POSITIVE_INFINITY) > now);
  if (living.length === 0) throw new ProviderFailure("gone", "The link to the file has expired.");
  return { state: "completed", tracks: living.map((generation) => trackOf(track, generation)) };
}

/** Whether the licences can be used; the response does not say which one the token belongs to, nor what is left. */
export function probeOf(licenses: readonly JsonObject[]): ProbeResult {
  const inactive = licenses.filter(({ status }) => status !== "active");
  return {
    credit: null,
    warnings: inactive.map(({ id, status }) => `The licence ${String(id)} is ${String(status)}.`),
  };
}

/** A time of the API in milliseconds since 1970; null for anything that does not name its zone. */
export function timeOf(value: unknown): number | null {
  if (typeof value !== "string" || !/(Z|[+-]\d\d:?\d\d)$/i.test(value)) return null;
  const time = Date.parse(value);
  return Number.isFinite(time) ? time : null;
}

function stageOf(status: unknown): "running" | "done" | "failed" {
  switch (status) {
    case "processing":
      return "running";
    // The second is the status in one of Mubert's examples.
    case "done":
    case "completed":
      return "done";
    case "failed":
      return "failed";
    default:
      throw new ProviderFailure(
        "unavailable",
        `The response has an unknown status: ${JSON.stringify(status)?.slice(0, 100)}.`,
      );
  }
}

function trackOf({ bpm, key, duration }: JsonObject, { url, expired_at: expiredAt }: JsonObject): ProviderTrack {
  const expiresAt = timeOf(expiredAt);
  return {
    title: null,
    bpm: numberWithin(bpm, 1_000),
    tags: { ...NO_TAGS, other: typeof key === "string" && key.trim() !== "" ? [key.trim().toLowerCase()] : [] },
    assets: [
      {
        role: "mix",
        label: "full",
        contentType: null,
        durationSeconds: numberWithin(duration, 86_400),
        source: { kind: "url", url: String(url), ...(expiresAt === null ? {} : { expiresAt }) },
      },
    ],
  };
}

function numberWithin(value: unknown, end: number): number | null {
  return typeof value === "number" && value > 0 && value < end ? value : null;
}
