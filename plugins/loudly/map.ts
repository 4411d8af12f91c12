import { asObject, isLink, NO_TAGS, ProviderFailure } from "../sdk/index.js";
import type { JsonObject, MusicRequest, ProbeResult, ProviderTrack } from "../sdk/index.js";

/** The type of request that a generation counts as. */
const REQUEST_TYPE = "ai_song";

/** The form of a generation. A duration in the prompt counts only for a model without a duration. */
export function formOf({ model, prompt, durationSeconds }: MusicRequest): FormData {
  const form = new FormData();
  form.append("prompt", prompt);
  const seconds = durationSeconds ?? model.duration?.defaultSeconds ?? null;
  if (seconds !== null) form.append("duration", String(seconds));
  return form;
}

/** @throws {ProviderFailure} when there is no file */
export function trackOf({ title, duration, bpm, key, music_file_path: url }: JsonObject): ProviderTrack {
  if (!isLink(url)) throw new ProviderFailure("failed", "The song is made, and there is no file.");
  const { name: keyName } = asObject(key);
  return {
    title: isText(title) ? title.trim() : null,
    bpm: numberWithin(bpm, 1_000),
    tags: { ...NO_TAGS, other: isText(keyName) ? [keyName.trim().toLowerCase()] : [] },
    assets: [
      {
        role: "mix",
        label: "full",
        contentType: null,
        durationSeconds: numberWithin(duration, 86_400),
        source: { kind: "url", url },
      },
    ],
  };
}

/** The remainder of the account's limit of songs. */
export function probeOf(limits: readonly JsonObject[]): ProbeResult {
  const left = limits.find(({ request_type: type }) => type === REQUEST_TYPE)?.["left"];
  if (typeof left !== "number")
    return { credit: null, warnings: [`The account's limits do not report what is left of ${REQUEST_TYPE}.`] };
  return { credit: { amount: Math.max(0, left), unit: "songs" }, warnings: left > 0 ? [] : ["No songs are left."] };
}

function numberWithin(value: unknown, end: number): number | null {
  return typeof value === "number" && value > 0 && value < end ? value : null;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}
