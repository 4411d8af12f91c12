/** The analysis of a file. */
export interface AudioAnalysis {
  /** Seconds from the first sample to the last. */
  readonly durationSeconds: number;
  /** Loudness along the file, as `Track.waveform` has it; silence is all zeros. */
  readonly waveform: readonly number[];
  /** The excerpt that was asked for; null when none was. */
  readonly preview: AudioPreview | null;
}

/** An excerpt from the loudest part of a track, faded at both ends; a shorter track is used whole. */
export interface AudioPreview {
  readonly bytes: Uint8Array;
  readonly contentType: "audio/mpeg";
  readonly durationSeconds: number;
}

export interface AnalysisRequest {
  /** Whether to make an excerpt of {@link PREVIEW_SECONDS}. */
  readonly preview: boolean;
  readonly signal?: AbortSignal;
}

/** Length of a preview at the most. */
export const PREVIEW_SECONDS = 30;

/**
 * Analyses files, away from the event loop. It goes by the bytes, never by a file's name or type, and holds no more of
 * a file than a preview needs, however long it is. A file that it cannot decode does not affect the next call. Selected
 * by `audio.analyser`; the override `audioAnalyser` of `compose` replaces it.
 */
export interface AudioAnalyser {
  /** False: no file is ever decoded, so that none can bring the process down. Left out: files are. */
  readonly decodes?: boolean;
  /**
   * The source is read to its end, or closed early.
   *
   * @returns null when the file is of a format that this adapter does not know
   * @throws {AudioUnreadableError} the format is known, but the file is broken, holds no sound, or takes more time or
   *   memory than it may
   * @throws {ServiceUnavailableError} it cannot be decoded at present, which is not known to be the file's fault
   * @throws the error of the source, and the signal's reason once that is aborted
   */
  analyse(source: Uint8Array | AsyncIterable<Uint8Array>, request: AnalysisRequest): Promise<AudioAnalysis | null>;
  /** Aborts running calls: they reject. */
  close(): Promise<void>;
}

export class AudioUnreadableError extends Error {
  override readonly name = "AudioUnreadableError";
}
