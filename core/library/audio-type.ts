import type { ProviderAsset } from "../ports/music-provider.js";

/** Sound that can be brought in, by the ending of its file's name. */
export const AUDIO_TYPES = {
  mp3: "audio/mpeg",
  wav: "audio/wav",
  flac: "audio/flac",
  ogg: "audio/ogg",
  m4a: "audio/mp4",
} as const satisfies { readonly [ending: string]: ProviderAsset["contentType"] };

export type AudioEnding = keyof typeof AUDIO_TYPES;

/** Major brands of MPEG-4 files that hold sound. */
const M4A_BRANDS = ["M4A ", "M4B ", "mp41", "mp42", "isom", "iso2", "iso4", "iso5", "iso6", "dash"];

/** First bytes of formats that are not decoded, of which some hold bytes that look like frames of MP3. */
const OTHER_FORMATS: readonly (readonly [name: string, offset: number, magic: string])[] = [
  ["M4A/MP4", 4, "ftyp"],
  ["WebM or Matroska", 0, "\x1aE\xdf\xa3"],
  ["AIFF", 0, "FORM"],
  ["Windows Media", 0, "0&\xb2u"],
  ["Core Audio", 0, "caff"],
  ["AMR", 0, "#!AMR"],
  ["Monkey's Audio", 0, "MAC "],
  ["Musepack", 0, "MPCK"],
  ["Musepack", 0, "MP+"],
  ["True Audio", 0, "TTA1"],
  ["WavPack", 0, "wvpk"],
];

/** The ending of a file's name that says which sound it holds; null when it says nothing, or something else. */
export function audioEndingOf(path: string): AudioEnding | null {
  const ending = /\.([a-z0-9]+)$/.exec(path.toLowerCase())?.[1] ?? "";
  return Object.hasOwn(AUDIO_TYPES, ending) ? (ending as AudioEnding) : null;
}

/** What a file holds, by its first bytes; null when it is none of {@link AUDIO_TYPES}. */
export function audioTypeOf(head: Uint8Array): AudioEnding | null {
  const text = (start: number, end: number): string => String.fromCharCode(...head.subarray(start, end));
  if (text(0, 4) === "RIFF" && text(8, 12) === "WAVE") return "wav";
  if (text(0, 4) === "fLaC") return "flac";
  if (text(0, 4) === "OggS") return "ogg";
  if (text(4, 8) === "ftyp" && M4A_BRANDS.includes(text(8, 12))) return "m4a";
  return text(0, 3) === "ID3" || isLayer3Frame(head) ? "mp3" : null;
}

/** The name of a known format that is not decoded; null of all others. */
export function otherFormatOf(head: Uint8Array): string | null {
  const text = (start: number, length: number): string => String.fromCharCode(...head.subarray(start, start + length));
  const found = OTHER_FORMATS.find(([, offset, magic]) => text(offset, magic.length) === magic);
  return found?.[0] ?? null;
}

/** The header of an MPEG frame of layer III (ISO 11172-3, 2.4.1.3), with nothing in it that is reserved. */
function isLayer3Frame([first = 0, second = 0, third = 0]: Uint8Array): boolean {
  const hasSync = first === 0xff && (second & 0xe0) === 0xe0;
  const [version, layer, bitrate, sampleRate] = [(second >> 3) & 3, (second >> 1) & 3, third >> 4, (third >> 2) & 3];
  return hasSync && version !== 1 && layer === 1 && bitrate !== 0 && bitrate !== 15 && sampleRate !== 3;
}
