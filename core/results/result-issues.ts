import { ASSET_CONTENT_TYPES, ProviderFailure, type ProviderFailureKind } from "../ports/music-provider.js";
import { bytesOfJson, isPlainValue, RESULT_LIMITS } from "./clamp-result.js";

/** A member of a plugin's result that is not what the port promises. */
export interface ResultIssue {
  /** The member, what it is, and what is allowed. */
  readonly words: string;
  /** Whether the result cannot be used; otherwise the member alone is ignored, or its file. */
  readonly isFatal: boolean;
}

type JsonObject = Readonly<Record<string, unknown>>;
type Report = (member: string, value: unknown, allowed: string, isFatal?: boolean) => void;

const ISSUES_MAX = 10;
const SHOWN_LENGTH = 60;

const ROLES = ["mix", "master", "preview", "stem", "cover"];
const KINDS = ["bytes", "stream", "text", "url"];

const FAILURE_KINDS: Readonly<Record<ProviderFailureKind, true>> = {
  unavailable: true,
  rate_limited: true,
  timeout: true,
  misconfigured: true,
  out_of_credit: true,
  model_unavailable: true,
  content_rejected: true,
  invalid_input: true,
  failed: true,
  cancelled: true,
  gone: true,
  outcome_unknown: true,
};

/** The states that each call may return. */
const STATES: Readonly<Record<string, readonly string[]>> = {
  submit: ["accepted", "completed"],
  poll: ["running", "completed"],
  lookup: ["accepted", "completed", "absent"],
};

/**
 * Compares what a plugin returned from a call with the port. Plugins written in JavaScript have no compiler that does.
 * Values that are merely too long or out of range are no issue: `clampResult` brings them within the limits.
 *
 * @param call the method of the port; of a method without rules here nothing is wrong
 * @returns the first issues, the fatal ones first
 */
export function resultIssues(call: string, result: unknown): readonly ResultIssue[] {
  const issues: ResultIssue[] = [];
  const report: Report = (member, value, allowed, isFatal = false) =>
    void issues.push({ words: `${member}: ${shown(value)}; allowed: ${allowed}`, isFatal });
  const states = STATES[call];
  if (states !== undefined) checkWord("", result, states, report);
  else if (call === "probe") checkProbe(result, report);
  else if (call === "parseCallback") checkCallback(result, report);
  else if (call === "cancel" && !["cancelled", "requested", "too_late"].includes(result as string))
    report("the result", result, anyOf(["cancelled", "requested", "too_late"]));
  return issues.sort((a, b) => Number(b.isFatal) - Number(a.isFatal)).slice(0, ISSUES_MAX);
}

/** What is wrong with a failure that a plugin throws or returns; null when nothing is. */
export function failureIssue({ kind }: { readonly kind: unknown }): string | null {
  if (typeof kind === "string" && Object.hasOwn(FAILURE_KINDS, kind)) return null;
  return `kind of the failure: ${shown(kind)}; allowed: ${anyOf(Object.keys(FAILURE_KINDS))}`;
}

/** @param path of the result, with its final dot; empty for the whole */
function checkWord(path: string, word: unknown, states: readonly string[], report: Report): void {
  const whole = path === "" ? "the result" : path.slice(0, -1);
  // A poll, and a callback, may return a failure in place of a snapshot.
  if (ProviderFailure.is(word) && states.includes("running")) {
    if (failureIssue(word) !== null) report(`${path}kind`, word.kind, anyOf(Object.keys(FAILURE_KINDS)), true);
    return;
  }
  if (!isObject(word) || ProviderFailure.is(word)) {
    return report(whole, word, `an object with state ${anyOf(states)}; failures are thrown`, true);
  }
  const { state } = word;
  if (!states.includes(state as string)) return report(`${path}state`, state, anyOf(states), true);
  if (state === "absent") return;
  if (state === "completed") return checkCompleted(path, word, report);
  if (typeof word["nextPollMs"] !== "number") report(`${path}nextPollMs`, word["nextPollMs"], "a number");
  if (state === "accepted" || word["handle"] !== undefined)
    checkHandle(`${path}handle`, word["handle"], state === "accepted", report);
  if (state === "running" && word["progress"] !== undefined) checkProgress(`${path}progress`, word["progress"], report);
}

function checkProgress(path: string, progress: unknown, report: Report): void {
  if (!isObject(progress)) return report(path, progress, "an object with percent, queuePosition or both");
  for (const name of ["percent", "queuePosition"]) {
    if (progress[name] !== undefined && typeof progress[name] !== "number")
      report(`${path}.${name}`, progress[name], "a number, or left out");
  }
}

/** A handle is opaque: one of another form may be all that finds paid work again, and is kept. */
function checkHandle(path: string, handle: unknown, isNeeded: boolean, report: Report): void {
  if (!isObject(handle)) return report(path, handle, "an object with version and data", isNeeded);
  if (typeof handle["version"] !== "number") report(`${path}.version`, handle["version"], "a number");
  if (!isObject(handle["data"])) report(`${path}.data`, handle["data"], "an object");
  const bytes = bytesOfJson(handle);
  const max = RESULT_LIMITS.handleBytes;
  if (bytes === null) report(path, handle, "JSON, without circles and bigints", isNeeded);
  else if (bytes > max) report(path, handle, `at most ${max} bytes of JSON, which has ${bytes}`, isNeeded);
}

function checkCompleted(path: string, word: JsonObject, report: Report): void {
  const { tracks, stems, handle, cost } = word;
  if (Array.isArray(tracks)) checkTracks(`${path}tracks`, tracks, report);
  else report(`${path}tracks`, tracks, "a list of tracks", true);
  if (Array.isArray(stems)) each(`${path}stems`, stems, RESULT_LIMITS.assets, checkStem, report);
  else if (stems !== undefined) report(`${path}stems`, stems, "a list of files, or none", true);
  if (handle !== undefined) checkHandle(`${path}handle`, handle, false, report);
  if (cost !== undefined && cost !== null) checkCost(`${path}cost`, cost, report);
}

function each(
  path: string,
  items: readonly unknown[],
  maxCount: number,
  check: (path: string, item: unknown, report: Report) => void,
  report: Report,
): void {
  for (const [index, item] of items.slice(0, maxCount).entries()) check(`${path}[${index}]`, item, report);
}

/** One usable track is enough, and the others are left out; where wrong members leave none, the result is no use. */
function checkTracks(path: string, tracks: readonly unknown[], report: Report): void {
  const found: Parameters<Report>[] = [];
  const collect: Report = (...issue) => void found.push(issue);
  each(path, tracks, RESULT_LIMITS.tracks, checkTrack, collect);
  const isFatal = found.length > 0 && !tracks.some(hasMix);
  for (const [member, value, allowed] of found) report(member, value, allowed, isFatal);
}

function hasMix(track: unknown): boolean {
  const assets: unknown = isObject(track) ? track["assets"] : null;
  return (
    Array.isArray(assets) &&
    assets.some((asset) => isObject(asset) && asset["role"] === "mix" && sourceIssue(asset["source"]) === null)
  );
}

function checkTrack(path: string, track: unknown, report: Report): void {
  if (!isObject(track)) return report(path, track, "an object");
  const { title, bpm, tags, lyrics, reference, assets } = track;
  if (!isNullOr("string", title)) report(`${path}.title`, title, "text or null");
  if (!isNullOr("number", bpm)) report(`${path}.bpm`, bpm, "a number or null");
  if (tags !== undefined && !isObject(tags))
    report(`${path}.tags`, tags, "an object with mood, activity, genre, other");
  if (!isNull(lyrics) && !isObject(lyrics)) report(`${path}.lyrics`, lyrics, "an object with text, or null");
  else if (isObject(lyrics) && typeof lyrics["text"] !== "string")
    report(`${path}.lyrics.text`, lyrics["text"], "text");
  if (!isNull(reference) && !isPlainReference(reference))
    report(`${path}.reference`, reference, "an object of texts, numbers, booleans and nulls");
  if (Array.isArray(assets)) each(`${path}.assets`, assets, RESULT_LIMITS.assets, checkAsset, report);
  else report(`${path}.assets`, assets, "a list of files, one with role mix");
}

/** A split needs all of its parts. */
function checkStem(path: string, stem: unknown, report: Report): void {
  if (!isObject(stem) || sourceIssue(stem["source"]) !== null)
    checkAsset(path, stem, (member, value, allowed) => report(member, value, allowed, true));
  else checkAsset(path, stem, report);
}

function checkAsset(path: string, asset: unknown, report: Report): void {
  if (!isObject(asset)) return report(path, asset, "an object");
  const { role, label, contentType, durationSeconds, source } = asset;
  if (!ROLES.includes(role as string)) report(`${path}.role`, role, anyOf(ROLES));
  if (typeof label !== "string") report(`${path}.label`, label, "text, such as full");
  if (!isNullOr("number", durationSeconds)) report(`${path}.durationSeconds`, durationSeconds, "a number or null");
  const types: readonly unknown[] = ASSET_CONTENT_TYPES;
  if (contentType !== undefined && contentType !== null && !types.includes(contentType))
    report(`${path}.contentType`, contentType, `${anyOf(ASSET_CONTENT_TYPES)} or null`);
  checkSource(`${path}.source`, source, [...KINDS, "archive"], report);
}

/** Why no bytes can be had from a source; null when they may be. */
export function sourceIssue(source: unknown): string | null {
  const issues: string[] = [];
  checkSource(
    "source",
    source,
    [...KINDS, "archive"],
    (member, value, allowed) => void issues.push(`${member}: ${shown(value)}; allowed: ${allowed}`),
  );
  return issues[0] ?? null;
}

function checkSource(path: string, source: unknown, kinds: readonly string[], report: Report): void {
  if (!isObject(source)) return report(path, source, `an object with kind ${anyOf(kinds)}`);
  const { kind, bytes, open, encoding, text, url, archive, entry } = source;
  if (!kinds.includes(kind as string)) return report(`${path}.kind`, kind, anyOf(kinds));
  if (kind === "bytes" && !(bytes instanceof Uint8Array)) report(`${path}.bytes`, bytes, "a Uint8Array");
  if (kind === "stream" && typeof open !== "function") report(`${path}.open`, open, "a function");
  if (kind === "url" && typeof url !== "string") report(`${path}.url`, url, "text");
  if (kind === "text") {
    if (encoding !== "base64" && encoding !== "hex") report(`${path}.encoding`, encoding, anyOf(["base64", "hex"]));
    if (typeof text !== "string") report(`${path}.text`, text, "text");
  }
  if (kind === "archive") {
    if (typeof entry !== "string") report(`${path}.entry`, entry, "text: the name of a file inside the ZIP");
    checkSource(`${path}.archive`, archive, KINDS, report);
  }
}

function checkProbe(result: unknown, report: Report): void {
  if (!isObject(result)) return report("the result", result, "an object with credit and warnings", true);
  const { credit, warnings } = result;
  if (credit !== null) checkCost("credit", credit, report, true);
  if (!Array.isArray(warnings) || !warnings.every((text) => typeof text === "string"))
    report("warnings", warnings, "a list of texts", true);
}

function checkCost(path: string, cost: unknown, report: Report, isFatal = false): void {
  if (!isObject(cost)) return report(path, cost, "an object with amount and unit", isFatal);
  if (typeof cost["amount"] !== "number") report(`${path}.amount`, cost["amount"], "a number", isFatal);
  if (typeof cost["unit"] !== "string") report(`${path}.unit`, cost["unit"], "text", isFatal);
}

function checkCallback(parsed: unknown, report: Report): void {
  const trusts = ["verified", "hint", "forged"];
  if (!isObject(parsed)) return report("the result", parsed, `an object with trust ${anyOf(trusts)}`, true);
  const { trust, snapshot } = parsed;
  if (!trusts.includes(trust as string)) return report("trust", trust, anyOf(trusts), true);
  if (trust === "verified") checkWord("snapshot.", snapshot, ["running", "completed"], report);
}

function isPlainReference(reference: unknown): boolean {
  return isObject(reference) && Object.values(reference).every(isPlainValue);
}

function isNull(value: unknown): boolean {
  return value === undefined || value === null;
}

function isNullOr(type: "string" | "number", value: unknown): boolean {
  return isNull(value) || typeof value === type;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function anyOf(values: readonly string[]): string {
  return values.join(", ");
}

/** A short text as it is; of anything else what it is, since results may hold links that are secret. */
function shown(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  if (ProviderFailure.is(value)) return "a failure";
  if (typeof value === "string") {
    const isWord = value.length <= SHOWN_LENGTH && /^[\w ./+-]*$/.test(value);
    return isWord ? JSON.stringify(value) : `a text of ${value.length} characters`;
  }
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
