import { asObject, isLink, ProviderFailure } from "../sdk/index.js";
import type {
  JsonObject,
  MusicRequest,
  ProviderAsset,
  ProviderFailureKind,
  ProviderTrack,
  SplitRequest,
} from "../sdk/index.js";
import { tagsOf } from "./tags.js";

/** Of every vendor and model the lowest. */
const TITLE_MAX_LENGTH = 80;

/** Members of a model's `options`; they go along in custom mode, `vocalGender` with lyrics only. */
export const CUSTOM_OPTIONS = ["negativeTags", "vocalGender", "styleWeight", "weirdnessConstraint"] as const;

/** Their names of stems and ours; `originUrl` is the whole piece. */
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

/** It failed there, and their credits were given back. */
const REFUNDED_CODE = "531";

/** `unreported`: they could not reach our callback address, whatever became of the work. */
export type Stage = "running" | "unreported" | "succeeded" | "failed";

/**
 * The body of a generation. In custom mode `prompt` is the lyrics and `style` the description. Otherwise `prompt` is
 * the description, and so is `style`: a request with a `prompt` alone is refused by now.
 */
export function generationOf(request: MusicRequest, callBackUrl: string): JsonObject {
  const { model, prompt, lyrics, instrumental, durationSeconds } = request;
  const common = { instrumental, model: model.upstream, callBackUrl };
  if (lyrics === null && !instrumental) {
    // The vendor writes words in this mode only, and takes no duration in it.
    if (durationSeconds !== null) {
      const why = "It takes a duration with lyrics or for an instrumental only.";
      throw new ProviderFailure("invalid_input", why, { billable: "no" });
    }
    return { customMode: false, prompt, style: prompt, ...common };
  }
  const { vocalGender, ...options } = Object.fromEntries(CUSTOM_OPTIONS.map((name) => [name, model.options?.[name]]));
  return {
    customMode: true,
    ...(instrumental ? {} : { prompt: lyrics, vocalGender }),
    style: prompt,
    title: titleOf(prompt),
    // Left out, it is 20 seconds there.
    ...(model.duration === null ? {} : { duration: durationSeconds ?? model.duration.defaultSeconds }),
    ...options,
    ...common,
  };
}

/** The body of a split of an own piece. */
export function splitOf(
  { operation, source: { reference } }: SplitRequest,
  dialect: string,
  callBackUrl: string,
): JsonObject {
  const refuse = (why: string): never => {
    throw new ProviderFailure("invalid_input", why, { billable: "no" });
  };
  if (reference === null) return refuse("It takes only pieces apart that it made itself, and this is none.");
  const { taskId, audioId, dialect: madeAt } = reference;
  if (madeAt !== dialect) return refuse(`The piece was made at ${String(madeAt)}; the setting dialect is ${dialect}.`);
  if (typeof taskId !== "string" || typeof audioId !== "string")
    return refuse("The piece's reference names no task and audio.");
  return { taskId, audioId, type: operation === "vocal_removal" ? "separate_vocal" : "split_stem", callBackUrl };
}

/** Words that are not known do not say that the work ended. */
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
  const said = typeof errorMessage === "string" ? `: ${errorMessage.slice(0, 300)}` : "";
  return new ProviderFailure(kind, `${String(word)}${code === undefined ? "" : ` ${code}`}${said}`, {
    providerCode: code ?? String(word),
    ...(code === REFUNDED_CODE ? { billable: "no" } : {}),
  });
}

/** The tracks whose files are there. */
export function tracksIn({ taskId, response }: JsonObject, dialect: string): ProviderTrack[] {
  const { sunoData } = asObject(response);
  return (Array.isArray(sunoData) ? sunoData : []).map(asObject).flatMap((track) => {
    const { id, audioUrl, imageUrl, title, tags, duration } = track;
    if (!isLink(audioUrl)) return [];
    const durationSeconds = typeof duration === "number" && duration > 0 ? duration : null;
    const assets: ProviderAsset[] = [{ ...FULL, role: "mix", durationSeconds, source: { kind: "url", url: audioUrl } }];
    if (isLink(imageUrl)) assets.push({ ...FULL, role: "cover", source: { kind: "url", url: imageUrl } });
    const reference =
      typeof id === "string" && typeof taskId === "string" ? { reference: { dialect, taskId, audioId: id } } : {};
    return [{ title: isText(title) ? title.trim() : null, bpm: null, tags: tagsOf(tags), assets, ...reference }];
  });
}

/** The stems whose files are there. */
export function stemsIn({ response }: JsonObject): ProviderAsset[] {
  const links = asObject(response);
  return Object.entries(STEMS).flatMap(([name, label]) => {
    const url = links[name];
    return isLink(url) ? [{ ...FULL, role: "stem" as const, label, source: { kind: "url" as const, url } }] : [];
  });
}

const FULL = { label: "full", contentType: null, durationSeconds: null } as const;

/** The beginning of the description, cut between two words. */
function titleOf(prompt: string): string {
  const letters = [...prompt.trim().replace(/\s+/gu, " ")];
  if (letters.length <= TITLE_MAX_LENGTH) return letters.join("");
  const cut = letters.slice(0, TITLE_MAX_LENGTH + 1).join("");
  const space = cut.lastIndexOf(" ");
  return space > 0 ? cut.slice(0, space) : letters.slice(0, TITLE_MAX_LENGTH).join("");
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}
