import { type AudioAnalysis, AudioUnreadableError, PREVIEW_SECONDS } from "../../../core/ports/audio-analyser.js";
import { WAVEFORM_POINTS } from "../../../core/library/track.js";
import type { AnalysisOrder, DecoderReply } from "./messages.js";

/** A preview of 30 seconds at 128 kbit/s has half a megabyte. */
const PREVIEW_MAX_BYTES = 1_000_000;

/**
 * The result of a decoder process. A process that a file took over may reply with anything, so that nothing is taken on
 * trust.
 *
 * @throws {AudioUnreadableError} it is none
 */
export function analysisOf(reply: DecoderReply, { preview: isAsked, maxSeconds }: AnalysisOrder): AudioAnalysis {
  const refuse = (): never => {
    throw new AudioUnreadableError("The audio cannot be read: its process replied with no analysis.");
  };
  if (reply.kind !== "done") return refuse();
  const { durationSeconds, waveform, preview } = reply.analysis;
  if (!isLength(durationSeconds, maxSeconds)) return refuse();
  if (!Array.isArray(waveform) || waveform.length > WAVEFORM_POINTS || !waveform.every(isPoint)) return refuse();
  if (preview === null || !isAsked) return { durationSeconds, waveform, preview: null };
  // The encoder rounds up to whole frames.
  const isPreview = preview.bytes instanceof Uint8Array && preview.bytes.length <= PREVIEW_MAX_BYTES;
  if (!isPreview || !isLength(preview.durationSeconds, PREVIEW_SECONDS + 1)) return refuse();
  const { bytes, durationSeconds: previewSeconds } = preview;
  return { durationSeconds, waveform, preview: { bytes, contentType: "audio/mpeg", durationSeconds: previewSeconds } };
}

function isLength(value: unknown, max: number): value is number {
  return typeof value === "number" && value > 0 && value <= max;
}

function isPoint(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 255;
}
