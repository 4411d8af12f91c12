import type { AudioAnalysis } from "../../../core/ports/audio-analyser.js";
import type { AudioFormat } from "./format.js";

/** What the decoder process does with a file. */
export interface AnalysisOrder {
  readonly format: AudioFormat;
  readonly preview: boolean;
  /** A longer file is refused. */
  readonly maxSeconds: number;
  /** Samples of all channels together; a file that holds more is refused. */
  readonly maxSamples: number;
}

export type DecoderRequest =
  /** The next file. */
  | { readonly kind: "order"; readonly order: AnalysisOrder }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "end" };

export type DecoderReply =
  /** Send the next bytes. */
  | { readonly kind: "next" }
  | { readonly kind: "done"; readonly analysis: AudioAnalysis }
  | { readonly kind: "unreadable"; readonly message: string };
