import { NO_TAGS, providerFailure } from "../sdk/index.js";
import type {
  ApiResponse,
  AssetSource,
  Completed,
  ProviderFailureKind,
  ProviderTrack,
  ProviderFailure,
} from "../sdk/index.js";
import type { Mapping, Meaning } from "./mapping.js";
import { at } from "./pointer.js";

/** What a response reports about work. `nothing`: it has none of the shapes that the mapping knows. */
export type Reading =
  | { readonly says: "completed"; readonly completed: Completed }
  | { readonly says: "running"; readonly id: string | null }
  | { readonly says: "failure"; readonly failure: ProviderFailure }
  | { readonly says: "nothing"; readonly why: string };

/** Reads the response to either of the two calls. */
export function read(response: ApiResponse, mapping: Mapping): Reading {
  const { pointers } = mapping;
  if (isAudio(response))
    return {
      says: "completed",
      completed: { state: "completed", tracks: [trackOf({ kind: "bytes", bytes: response.bytes })] },
    };
  const document = response.json();
  if (typeof document !== "object" || document === null)
    return { says: "nothing", why: "Neither audio nor a JSON object came." };
  const word = at(document, pointers.status);
  const meaning = typeof word === "string" ? (mapping.statusWords.get(word.toLowerCase()) ?? "unknown") : null;
  const id = idIn(document, mapping);
  if (meaning === "running") return { says: "running", id };
  if (meaning === "completed") return readTracks(document, response, mapping);
  if (meaning === "unknown")
    return { says: "nothing", why: `The status ${JSON.stringify(word)} is not among statusWords.` };
  if (meaning !== null) return { says: "failure", failure: failureMessage(meaning, document, response, mapping) };
  // No status: an error, the tracks themselves, or an id to poll with.
  if (isError(document, mapping))
    return { says: "failure", failure: failureMessage("failed", document, response, mapping) };
  if (at(document, pointers.tracks) !== undefined) return readTracks(document, response, mapping);
  return id === null
    ? { says: "nothing", why: "There is neither a status nor tracks nor an id." }
    : { says: "running", id };
}

/** The failure of a refusal; undefined: its status alone decides. */
export function refusalOf(response: ApiResponse, mapping: Mapping): ProviderFailure | undefined {
  const document = response.json();
  if (response.status < 400 || !isRejection(document, mapping)) return undefined;
  return failureMessage("failed", document, response, mapping);
}

function readTracks(document: unknown, response: ApiResponse, mapping: Mapping): Reading {
  const given = at(document, mapping.pointers.tracks);
  const items: readonly unknown[] = given === undefined || given === null ? [] : Array.isArray(given) ? given : [given];
  const tracks = items.map((item) => readTrack(item, mapping));
  if (tracks.length > 0 && tracks.every((track) => track !== null))
    return { says: "completed", completed: { state: "completed", tracks } };
  const why =
    tracks.length === 0
      ? "It is done and there are no tracks."
      : "It is done and a track has neither a URL nor base64.";
  return { says: "failure", failure: providerFailure("failed", response, { message: why }) };
}

function readTrack(item: unknown, { pointers, baseUrl, headers }: Mapping): ProviderTrack | null {
  const [url, base64, title, seconds] = [
    at(item, pointers.audioUrl),
    at(item, pointers.audioBase64),
    at(item, pointers.title),
    at(item, pointers.duration),
  ];
  const more = {
    title: typeof title === "string" && title.trim() !== "" ? title : null,
    durationSeconds: typeof seconds === "number" && seconds > 0 ? seconds : null,
  };
  if (typeof base64 === "string" && base64 !== "") {
    return trackOf({ kind: "text", encoding: "base64", text: base64.replace(/^data:[^,]*;base64,/i, "") }, more);
  }
  if (typeof url !== "string" || !URL.canParse(url, `${baseUrl}/`)) return null;
  const whole = new URL(url, `${baseUrl}/`);
  if (whole.protocol !== "http:" && whole.protocol !== "https:") return null;
  // The key is sent to the server itself only, never to another host of its files.
  const isOwn = whole.origin === new URL(baseUrl).origin;
  return trackOf({ kind: "url", url: whole.href, ...(isOwn ? { headers } : {}) }, more);
}

function trackOf(
  source: AssetSource,
  { title = null, durationSeconds = null }: { title?: string | null; durationSeconds?: number | null } = {},
): ProviderTrack {
  return {
    title,
    bpm: null,
    tags: NO_TAGS,
    assets: [{ role: "mix", label: "full", contentType: null, durationSeconds, source }],
  };
}

function failureMessage(
  meaning: Exclude<Meaning, "running" | "completed">,
  document: unknown,
  response: ApiResponse,
  mapping: Mapping,
): ProviderFailure {
  const kind: ProviderFailureKind = isRejection(document, mapping) ? "content_rejected" : meaning;
  const { pointers } = mapping;
  const words = at(document, pointers.error);
  // Without a code of the error, the status word says that the work has ended.
  const code = [at(document, pointers.errorCode), at(document, pointers.status)].find((value) => !isEmpty(value));
  return providerFailure(kind, response, {
    ...(typeof words === "string" && words !== "" ? { message: words.slice(0, 300) } : {}),
    ...(typeof code === "string" || typeof code === "number" ? { code: String(code) } : {}),
  });
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function isError(document: unknown, { pointers }: Mapping): boolean {
  return [pointers.error, pointers.errorCode].some((pointer) => {
    const value = at(document, pointer);
    return (typeof value === "string" && value !== "") || typeof value === "number";
  });
}

function isRejection(document: unknown, { pointers, rejectionCodes }: Mapping): boolean {
  const code = at(document, pointers.errorCode);
  return (typeof code === "string" || typeof code === "number") && rejectionCodes.has(String(code).toLowerCase());
}

function idIn(document: unknown, { pointers }: Mapping): string | null {
  const id = at(document, pointers.id);
  return (typeof id === "string" && id !== "") || typeof id === "number" ? String(id) : null;
}

function isAudio({ headers, bytes }: ApiResponse): boolean {
  return /^(audio\/|application\/octet-stream)/i.test(headers.get("content-type") ?? "") && bytes.length > 0;
}
