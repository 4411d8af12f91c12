import { AUDIO_TYPES, audioTypeOf } from "../../core/library/audio-type.js";
import type { AssetContentType } from "../../core/ports/music-provider.js";

/** Enough of a file to know it by. */
export const HEAD_BYTES = 16;

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const JPEG = [0xff, 0xd8, 0xff];

/** What a file holds, by its first bytes; null when it may not be stored. */
export function contentTypeOf(head: Uint8Array): AssetContentType | null {
  const ending = audioTypeOf(head);
  if (ending !== null) return AUDIO_TYPES[ending];
  const begins = (magic: readonly number[]): boolean => magic.every((byte, index) => head[index] === byte);
  if (begins(PNG)) return "image/png";
  if (begins(JPEG)) return "image/jpeg";
  const text = (start: number, end: number): string => String.fromCharCode(...head.subarray(start, end));
  return text(0, 4) === "RIFF" && text(8, 12) === "WEBP" ? "image/webp" : null;
}
