export type AudioFormat = "wav" | "mp3" | "flac" | "vorbis" | "opus";

/** How far an MPEG frame is searched for. */
const PROBE_BYTES = 4_096;

/** Detects a format by a file's first bytes; null when it cannot be read. */
export function formatOf(bytes: Uint8Array): AudioFormat | null {
  const text = (start: number, end: number): string => String.fromCharCode(...bytes.subarray(start, end));
  if (["RIFF", "RF64"].includes(text(0, 4)) && text(8, 12) === "WAVE") return "wav";
  if (text(0, 4) === "fLaC") return "flac";
  if (text(0, 3) === "ID3") return "mp3";
  if (text(0, 4) !== "OggS") return hasMpegFrame(bytes.subarray(0, PROBE_BYTES)) ? "mp3" : null;
  // The first packet follows the page's header of 27 bytes and its one segment length.
  if (text(28, 36) === "OpusHead") return "opus";
  if (text(28, 35) === "\x01vorbis") return "vorbis";
  return text(28, 33) === "\x7fFLAC" ? "flac" : null;
}

/** A header of an MPEG audio frame (ISO 11172-3, 2.4.1.3): sync word, and none of the reserved values. */
function hasMpegFrame(bytes: Uint8Array): boolean {
  return bytes.some((first, index) => {
    const [second = 0, third = 0] = [bytes[index + 1], bytes[index + 2]];
    const hasSync = first === 0xff && (second & 0xe0) === 0xe0;
    const [version, layer] = [(second >> 3) & 3, (second >> 1) & 3];
    const [bitrate, rate] = [third >> 4, (third >> 2) & 3];
    return hasSync && version !== 1 && layer !== 0 && bitrate !== 0 && bitrate !== 15 && rate !== 3;
  });
}
