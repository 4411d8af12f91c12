import { asObject, isLink, lyricsOf, ProviderFailure } from "../sdk/index.js";
import type { JsonObject, ProviderAsset, ProviderFailureKind, ProviderTrack } from "../sdk/index.js";
import { tagsOf } from "./tags.js";

/** Their names of stems and ours; `originUrl` is the whole track. */
const STEMS: Readonly<Record<string, string>> = {
  vocalUrl: "vocals",
  instrumentalUrl: "instrumental",
  backingVocalsUrl: "backing_vocals",
  drumsUrl: "drums",
  bassUrl: "bass",
  guitarUrl: "guitar",
  keyboardUrl: "keyboard",
  pianoUrl: "piano",
  percussionUrl: "percussion",
  stringsUrl: "strings",
  synthUrl: "synth",
  fxUrl: "fx",
  brassUrl: "brass",
  woodwindsUrl: "woodwinds",
};

/** Codes of failed work, as the callback's documentation explains them. */
const WORK_CODES: Readonly<Record<string, ProviderFailureKind>> = {
  400: "content_rejected",
  408: "timeout",
  413: "content_rejected",
};

/** The work failed, and the vendor refunded its credits. */
const REFUNDED_CODE = "531";

/** `unreported`: the vendor could not reach the callback URL; the work may have ended in any way. */
export type Stage = "running" | "unreported" | "succeeded" | "failed";

/** An unknown status does not say that the work ended. */
export function stageOf(word: unknown): Stage {
  switch (word) {
    case "SUCCESS":
      return "succeeded";
    case "CALLBACK_EXCEPTION":
      return "unreported";
    case "CREATE_TASK_FAILED":
    case "GENERATE_AUDIO_FAILED":
    case "SENSITIVE_WORD_ERROR":
      return "failed";
    default:
      return "running";
  }
}

/** Why work failed. */
export function failureIn(record: JsonObject, word: unknown): ProviderFailure {
  const { errorCode, errorMessage } = record;
  const code = typeof errorCode === "number" || typeof errorCode === "string" ? String(errorCode) : undefined;
  const kind = word === "SENSITIVE_WORD_ERROR" ? "content_rejected" : (WORK_CODES[code ?? ""] ?? "failed");
  const message = typeof errorMessage === "string" ? `: ${errorMessage.slice(0, 300)}` : "";
  return new ProviderFailure(kind, `${String(word)}${code === undefined ? "" : ` ${code}`}${message}`, {
    providerCode: code ?? String(word),
    ...(code === REFUNDED_CODE ? { billable: "no" } : {}),
  });
}

/** The model of a generation, and when it started, in milliseconds since 1970. */
export interface Origin {
  readonly model: string;
  readonly submittedAt: number;
}

/** The tracks whose files exist, with the vendor's ids. */
export function tracksIn({ taskId, response }: JsonObject, dialect: string, origin: Origin | null): ProviderTrack[] {
  const { sunoData } = asObject(response);
  return (Array.isArray(sunoData) ? sunoData : []).map(asObject).flatMap((track) => {
    const { id, audioUrl, imageUrl, title, tags, duration, prompt } = track;
    if (!isLink(audioUrl)) return [];
    const durationSeconds = typeof duration === "number" && duration > 0 ? duration : null;
    const assets: ProviderAsset[] = [{ ...FULL, role: "mix", durationSeconds, source: { kind: "url", url: audioUrl } }];
    if (isLink(imageUrl)) assets.push({ ...FULL, role: "cover", source: { kind: "url", url: imageUrl } });
    const isNamed = typeof id === "string" && typeof taskId === "string";
    const reference = isNamed ? { reference: { dialect, taskId, audioId: id, ...origin } } : {};
    // The `prompt` of a track holds its lyrics.
    const message = { title: isText(title) ? title.trim() : null, ...lyricsOf(prompt) };
    return [{ ...message, bpm: null, tags: tagsOf(tags), assets, ...reference }];
  });
}

/** The stems whose files exist. */
export function stemsIn({ response }: JsonObject): ProviderAsset[] {
  const links = asObject(response);
  return Object.entries(STEMS).flatMap(([name, label]) => {
    const url = links[name];
    return isLink(url) ? [{ ...FULL, role: "stem" as const, label, source: { kind: "url" as const, url } }] : [];
  });
}

const FULL = { label: "full", contentType: null, durationSeconds: null } as const;

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}
