/**
 * Limits for all values that a provider returns, applied at the one place where plugins are called. Long texts are cut,
 * invalid numbers are dropped, and a handle is kept whole or not at all.
 */
import {
  type Accepted,
  type Completed,
  type ParsedCallback,
  type ProbeResult,
  type ProviderAsset,
  type ProviderCost,
  ProviderFailure,
  type ProviderHandle,
  type ProviderProgress,
  type ProviderReference,
  type ProviderTrack,
  type Running,
  type Snapshot,
  type TrackTags,
} from "../ports/music-provider.js";
import { lyricsWithin, withLyricsWithin } from "./clamp-lyrics.js";
import { pollDelayMs } from "../attempts/policy.js";

/** Lengths in code points. */
export const RESULT_LIMITS = {
  titleLength: 200,
  bpm: 1_000,
  durationSeconds: 86_400,
  /** As in the import of libraries. */
  tagLength: 50,
  tags: 50,
  labelLength: 100,
  tracks: 100,
  assets: 100,
  referenceLength: 4_000,
  /** As JSON in UTF-8. */
  handleBytes: 16_384,
  messageLength: 1_000,
  codeLength: 100,
  costAmount: 1_000_000_000,
  unitLength: 30,
  warnings: 20,
  queuePosition: 1_000_000,
} as const;

/** Control characters (C0, C1), lone surrogates, and what turns the direction of text around. */
const CONTROLS = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]+/gu;

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Brings the result of a plugin's method within the limits; a value that is not a result of the port is returned
 * unchanged.
 *
 * @throws {ProviderFailure} `outcome_unknown`: work was accepted under a handle that cannot be kept. It may be paid
 *   for, so that it is looked for as after a lost reply, and never simply bought again.
 */
export function clampResult<Result>(result: Result): Result {
  return clamped(result) as Result;
}

/** The failure within the limits: the same object when nothing had to be cut. */
export function clampFailure(failure: ProviderFailure): ProviderFailure {
  const { kind, billable, retryAfterMs, providerCode, requestId, cause } = failure;
  const message = line(failure.message, RESULT_LIMITS.messageLength) ?? "";
  const code = line(providerCode, RESULT_LIMITS.codeLength);
  const request = line(requestId, RESULT_LIMITS.codeLength);
  const waitMs = numberWithin(retryAfterMs, 0, Number.MAX_SAFE_INTEGER);
  const isKept =
    message === failure.message && code === providerCode && request === requestId && waitMs === retryAfterMs;
  if (isKept) return failure;
  return new ProviderFailure(kind, message, {
    billable,
    retryAfterMs: waitMs ?? undefined,
    providerCode: code ?? undefined,
    requestId: request ?? undefined,
    cause,
  });
}

function clamped(result: unknown): unknown {
  if (ProviderFailure.is(result)) return clampFailure(result);
  if (!isJsonObject(result)) return result;
  if (Array.isArray(result["warnings"])) return probed(result as unknown as ProbeResult);
  if (result["trust"] !== undefined) return callback(result as unknown as ParsedCallback);
  switch (result["state"]) {
    case "completed":
      return completed(result as unknown as Completed);
    case "accepted":
      return accepted(result as unknown as Accepted);
    case "running":
      return running(result as unknown as Running);
    default:
      return result;
  }
}

function probed({ credit, warnings }: ProbeResult): ProbeResult {
  const words = warnings
    .slice(0, RESULT_LIMITS.warnings)
    .flatMap((warning) => line(warning, RESULT_LIMITS.messageLength) ?? []);
  return { credit: costWithin(credit), warnings: words };
}

function callback(parsed: ParsedCallback): ParsedCallback {
  switch (parsed.trust) {
    case "verified":
      return { ...parsed, snapshot: clampResult<Snapshot | ProviderFailure>(parsed.snapshot) };
    case "forged":
      return { ...parsed, reason: line(parsed.reason, RESULT_LIMITS.messageLength) ?? "" };
    default:
      return parsed;
  }
}

function accepted(word: Accepted): Accepted {
  if (handleWithin(word.handle) === null) {
    const message = `The plugin's handle is larger than ${RESULT_LIMITS.handleBytes} bytes of JSON, or none at all.`;
    throw new ProviderFailure("outcome_unknown", message);
  }
  return { ...word, nextPollMs: pollDelayMs(word.nextPollMs) };
}

/** The handle that was stored before stays where the new one cannot be kept. */
function running({ handle, progress, ...word }: Running): Running {
  const kept = progressWithin(progress);
  return {
    ...word,
    nextPollMs: pollDelayMs(word.nextPollMs),
    ...(kept === null ? {} : { progress: kept }),
    ...replacement(handle),
  };
}

/** In whole numbers; null when nothing of it is one. */
function progressWithin(progress: ProviderProgress | undefined): ProviderProgress | null {
  if (!isJsonObject(progress)) return null;
  const percent = numberWithin(progress.percent, 0, 100);
  const queuePosition = numberWithin(progress.queuePosition, 0, RESULT_LIMITS.queuePosition);
  if (percent === null && queuePosition === null) return null;
  return {
    ...(percent === null ? {} : { percent: Math.floor(percent) }),
    ...(queuePosition === null ? {} : { queuePosition: Math.floor(queuePosition) }),
  };
}

function replacement(handle: ProviderHandle | undefined): { readonly handle?: ProviderHandle } {
  const kept = handleWithin(handle);
  return kept === null ? {} : { handle: kept };
}

/** null for one that cannot be stored whole: half of it finds nothing. */
function handleWithin(handle: ProviderHandle | undefined): ProviderHandle | null {
  if (!isJsonObject(handle)) return null;
  return (bytesOfJson(handle) ?? Infinity) <= RESULT_LIMITS.handleBytes ? handle : null;
}

/** In UTF-8; null for what is no JSON: a circle, a bigint, or one whose own `toJSON` throws. */
export function bytesOfJson(value: object): number | null {
  try {
    return new TextEncoder().encode(JSON.stringify(value)).length;
  } catch {
    return null;
  }
}

function completed({ cost, stems, handle, ...word }: Completed): Completed {
  const kept = costWithin(cost);
  return {
    ...word,
    tracks: withLyricsWithin(objects<ProviderTrack>(word.tracks, RESULT_LIMITS.tracks).map(trackWithin)),
    ...(stems === undefined ? {} : { stems: objects<ProviderAsset>(stems, RESULT_LIMITS.assets).map(assetWithin) }),
    ...(kept === null ? {} : { cost: kept }),
    ...replacement(handle),
  };
}

function trackWithin({ reference, lyrics, ...track }: ProviderTrack): ProviderTrack {
  const bpm = numberWithin(track.bpm, 0, RESULT_LIMITS.bpm);
  const kept = referenceWithin(reference);
  const sung = lyricsWithin(lyrics);
  return {
    ...track,
    title: line(track.title, RESULT_LIMITS.titleLength),
    bpm: bpm === null || Math.round(bpm) < 1 ? null : bpm,
    tags: tagsWithin(track.tags),
    assets: objects<ProviderAsset>(track.assets, RESULT_LIMITS.assets).map(assetWithin),
    ...(kept === null ? {} : { reference: kept }),
    ...(sung === null ? {} : { lyrics: sung }),
  };
}

function assetWithin(asset: ProviderAsset): ProviderAsset {
  return {
    ...asset,
    label: line(asset.label, RESULT_LIMITS.labelLength) ?? "",
    durationSeconds: numberWithin(asset.durationSeconds, 0, RESULT_LIMITS.durationSeconds),
  };
}

function tagsWithin(tags: TrackTags): TrackTags {
  const words = (group: unknown): string[] => {
    const lines = (Array.isArray(group) ? group.slice(0, RESULT_LIMITS.tags) : []) as unknown[];
    return lines.flatMap((word) => line(word, RESULT_LIMITS.tagLength) ?? []);
  };
  const { mood, activity, genre, other } = isJsonObject(tags) ? tags : ({} as Partial<TrackTags>);
  return { mood: words(mood), activity: words(activity), genre: words(genre), other: words(other) };
}

/** null for one that cannot be stored whole: half of it names nothing. */
function referenceWithin(reference: ProviderReference | undefined): ProviderReference | null {
  if (!isJsonObject(reference)) return null;
  return Object.values(reference).every(isPlainValue) &&
    JSON.stringify(reference).length <= RESULT_LIMITS.referenceLength
    ? reference
    : null;
}

/** What a reference may have as a value. */
export function isPlainValue(value: unknown): boolean {
  return value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}

function costWithin(cost: ProviderCost | null | undefined): ProviderCost | null {
  if (!isJsonObject(cost)) return null;
  const amount = numberWithin(cost.amount, 0, RESULT_LIMITS.costAmount);
  const unit = line(cost.unit, RESULT_LIMITS.unitLength);
  return amount === null || unit === null ? null : { amount, unit };
}

/** On one line, without control characters; null for what is no text, or has nothing else. */
function line(text: unknown, maxLength: number): string | null {
  if (typeof text !== "string") return null;
  // A first cut, so that a text of megabytes is not gone through: four code units for each character leave enough for
  // those that are removed.
  const whole = text
    .slice(0, maxLength * 4)
    .replace(CONTROLS, " ")
    .replace(/\s+/gu, " ")
    .trim();
  const characters = [...whole];
  if (characters.length > maxLength) return characters.slice(0, maxLength).join("").trim();
  return whole === "" ? null : whole;
}

function numberWithin(value: unknown, minimum: number, maximum: number): number | null {
  return typeof value === "number" && value >= minimum && value <= maximum ? value : null;
}

function objects<Item>(items: unknown, maxCount: number): Item[] {
  return (Array.isArray(items) ? items.slice(0, maxCount).filter(isJsonObject) : []) as unknown as Item[];
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
