import { unzipSync } from "fflate";
import {
  ASSET_CONTENT_TYPES,
  type AssetContentType,
  type AssetSource,
  type Completed,
  type ProviderAsset,
  type ProviderLyrics,
  type ProviderTrack,
  type SubmitRequest,
} from "../../../core/ports/music-provider.js";
import { RESULT_LIMITS } from "../../../core/results/clamp-result.js";
import { COST, isCost } from "../../../core/providers/plain-values.js";

const ROLES = ["mix", "master", "preview", "stem", "cover"];

/** What is wrong with completed work, a line each; looks at no bytes. */
export function completedIssues({ tracks, stems, cost }: Completed, operation: SubmitRequest["operation"]): string[] {
  const issues: string[] = [];
  if (operation === "music") {
    if (tracks.length === 0) issues.push("tracks: none; a generation that completed has at least one");
    if (stems !== undefined) issues.push("stems: given; a generation's stems are assets of its tracks");
  } else {
    if (tracks.length > 0) issues.push("tracks: given; a split answers [] there and its parts as `stems`");
    issues.push(...splitIssues(stems ?? [], operation));
  }
  tracks.forEach((track, index) => issues.push(...trackIssues(`tracks[${index}]`, track)));
  if (cost !== undefined && !isCost(cost))
    issues.push(`cost: ${cost.amount} ${JSON.stringify(cost.unit)}; allowed: ${COST}, of at least 0, with a unit`);
  return issues;
}

function splitIssues(stems: readonly ProviderAsset[], operation: SubmitRequest["operation"]): string[] {
  const issues = stems.length === 0 ? ["stems: none; a split that completed has at least one"] : [];
  stems.forEach((stem, index) => {
    if (stem.role !== "stem") issues.push(`stems[${index}].role: ${stem.role}; allowed: stem`);
    issues.push(...assetIssues(`stems[${index}]`, stem));
  });
  const labels = stems.map(({ label }) => label);
  if (new Set(labels).size < labels.length) issues.push(`stems: a label is there twice: ${labels.join(", ")}`);
  for (const label of operation === "vocal_removal" ? ["instrumental", "vocals"] : []) {
    if (!labels.includes(label))
      issues.push(
        `stems: there is no ${label}; a vocal removal answers instrumental and vocals, got ${labels.join(", ")}`,
      );
  }
  return issues;
}

function trackIssues(at: string, { title, bpm, tags, assets, reference, lyrics }: ProviderTrack): string[] {
  const issues = assets.flatMap((asset, index) => assetIssues(`${at}.assets[${index}]`, asset));
  const mixes = assets.filter(({ role }) => role === "mix").length;
  if (mixes !== 1) issues.push(`${at}: ${mixes} assets of role mix; a track has exactly one playable file`);
  const names = assets.map(({ role, label }) => `${role} ${label}`);
  if (new Set(names).size < names.length) issues.push(`${at}: an asset is there twice: ${names.join(", ")}`);
  if (title !== null && title.trim() === "") issues.push(`${at}.title: empty; allowed: null, or a title`);
  if (bpm !== null && !(bpm > 0 && bpm < 1_000)) issues.push(`${at}.bpm: ${bpm}; allowed: null, or beats per minute`);
  for (const group of ["mood", "activity", "genre", "other"] as const) {
    const odd = tags[group].filter((tag) => tag.trim() === "" || tag !== tag.toLowerCase());
    if (odd.length > 0) issues.push(`${at}.tags.${group}: ${JSON.stringify(odd)}; allowed: words in lower case`);
  }
  const odd = Object.entries(reference ?? {}).filter(
    ([, value]) => value !== null && !["string", "number", "boolean"].includes(typeof value),
  );
  if (odd.length > 0)
    issues.push(`${at}.reference: ${odd.map(([name]) => name).join(", ")}; allowed: text, numbers, booleans, null`);
  const length = JSON.stringify(reference ?? {}).length;
  if (length > RESULT_LIMITS.referenceLength)
    issues.push(`${at}.reference: ${length} characters; kept are at most ${RESULT_LIMITS.referenceLength}`);
  if (lyrics !== undefined) issues.push(...lyricsIssues(`${at}.lyrics`, lyrics));
  return issues;
}

function lyricsIssues(at: string, { text, words = [] }: ProviderLyrics): string[] {
  const issues = text.trim() === "" ? [`${at}.text: empty; leave \`lyrics\` out where there are none`] : [];
  words.forEach(({ text: word, startSeconds, endSeconds }, index) => {
    const before = words[index - 1]?.startSeconds ?? 0;
    if (word.trim() === "") issues.push(`${at}.words[${index}].text: empty; allowed: a word`);
    const isRight = startSeconds >= before && endSeconds >= startSeconds && endSeconds < 86_400;
    const said = `${startSeconds} to ${endSeconds}`;
    if (!isRight) issues.push(`${at}.words[${index}]: ${said}; allowed: seconds (a day at most), in order`);
  });
  return issues;
}

function assetIssues(at: string, { role, label, contentType, durationSeconds, source }: ProviderAsset): string[] {
  const issues: string[] = [];
  if (!ROLES.includes(role)) issues.push(`${at}.role: ${role}; allowed: ${ROLES.join(", ")}`);
  if (role === "stem" ? !/^[a-z][a-z0-9_ -]*$/.test(label) || label === "full" : label !== "full") {
    issues.push(`${at}.label: ${label}; allowed: ${role === "stem" ? "the stem's lower-case name" : "full"}`);
  }
  if (contentType !== null && !ASSET_CONTENT_TYPES.includes(contentType))
    issues.push(`${at}.contentType: ${String(contentType)}; allowed: null, ${ASSET_CONTENT_TYPES.join(", ")}`);
  if (durationSeconds !== null && !(durationSeconds > 0 && durationSeconds < 86_400))
    issues.push(
      `${at}.durationSeconds: ${durationSeconds}; allowed: null, or seconds (of milliseconds, a day at most)`,
    );
  return [...issues, ...sourceIssues(`${at}.source`, source)];
}

function sourceIssues(at: string, source: AssetSource): string[] {
  switch (source.kind) {
    case "bytes":
      return source.bytes.length > 0 ? [] : [`${at}: no bytes`];
    case "text":
      return isEncoded(source.text, source.encoding) ? [] : [`${at}: text that is no ${source.encoding}`];
    case "url":
      return /^https?:\/\/./.test(source.url)
        ? []
        : [`${at}.url: ${JSON.stringify(source.url)}; allowed: http or https`];
    case "stream":
      return typeof source.open === "function" ? [] : [`${at}.open: missing`];
    case "archive":
      return [...(source.entry === "" ? [`${at}.entry: empty`] : []), ...sourceIssues(`${at}.archive`, source.archive)];
    default:
      return [
        `${at}.kind: ${String((source as { readonly kind: unknown }).kind)}; allowed: bytes, stream, text, url, ` +
          `archive`,
      ];
  }
}

function isEncoded(text: string, encoding: "base64" | "hex"): boolean {
  return text.length > 0 && (encoding === "hex" ? /^([0-9a-f]{2})+$/i : /^[A-Za-z0-9+/]+={0,2}$/).test(text);
}

/** The bytes of an asset, fetched as the host would. */
export async function bytesOfSource(source: AssetSource): Promise<Uint8Array> {
  switch (source.kind) {
    case "bytes":
      return source.bytes;
    case "text":
      return new Uint8Array(Buffer.from(source.text, source.encoding));
    case "stream": {
      const parts: Uint8Array[] = [];
      for await (const part of source.open()) parts.push(part);
      return new Uint8Array(Buffer.concat(parts));
    }
    case "url": {
      const response = await fetch(source.url, { headers: source.headers ?? {} });
      if (response.status !== 200)
        throw new Error(`GET ${source.url} answers ${response.status}: the fake serves no such file (fake.file)`);
      return new Uint8Array(await response.arrayBuffer());
    }
    case "archive": {
      const files = unzipSync(await bytesOfSource(source.archive));
      const file = files[source.entry];
      if (file === undefined)
        throw new Error(`The archive has no ${source.entry}; it has ${Object.keys(files).join(", ")}`);
      return file;
    }
  }
}

/** The type that the first bytes tell; null when they tell none of ours. */
export function typeOfBytes(bytes: Uint8Array): AssetContentType | null {
  const head = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  if (head.startsWith("ID3") || (bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0)) return "audio/mpeg";
  if (head.startsWith("RIFF"))
    return head.slice(8) === "WAVE" ? "audio/wav" : head.slice(8) === "WEBP" ? "image/webp" : null;
  if (head.startsWith("fLaC")) return "audio/flac";
  if (head.startsWith("OggS")) return "audio/ogg";
  if (head.slice(4, 8) === "ftyp") return "audio/mp4";
  if (head.startsWith("\x89PNG")) return "image/png";
  return bytes[0] === 0xff && bytes[1] === 0xd8 ? "image/jpeg" : null;
}
