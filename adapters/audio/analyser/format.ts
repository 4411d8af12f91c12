import { otherFormatOf } from "../../../core/library/audio-type.js";
import { hasMpegFrames } from "./mpeg-frames.js";

/** The format of a file, by its first bytes. */
export type AudioFormat = "mp3" | "wav" | "flac" | "ogg-flac" | "vorbis" | "opus";

/** How many bytes {@link formatOf} looks at. */
export const PROBE_BYTES = 8_192;

/** The format of a file that begins with these bytes; null when it is none of those that can be decoded. */
export function formatOf(head: Uint8Array): AudioFormat | null {
  const text = (start: number, end: number): string => String.fromCharCode(...head.subarray(start, end));
  if (["RIFF", "RF64"].includes(text(0, 4)) && text(8, 12) === "WAVE") return "wav";
  if (text(0, 4) === "fLaC") return "flac";
  if (text(0, 4) === "OggS") return oggCodec(text);
  // The container decides: compressed samples in it may look like frames.
  if (otherFormatOf(head) !== null) return null;
  // A tag with a picture in it is long; a whole file that is this short has its first frame in sight.
  if (text(0, 3) === "ID3" && head.length >= PROBE_BYTES) return "mp3";
  return hasMpegFrames(head.subarray(0, PROBE_BYTES)) ? "mp3" : null;
}

/** The first packet follows the page's header of 27 bytes and its one segment length. */
function oggCodec(text: (start: number, end: number) => string): AudioFormat | null {
  if (text(28, 36) === "OpusHead") return "opus";
  if (text(28, 35) === "\x01vorbis") return "vorbis";
  return text(28, 33) === "\x7fFLAC" ? "ogg-flac" : null;
}
