import type { AudioAnalysis } from "../../../core/ports/audio-analyser.js";
import type { AudioFormat } from "./format.js";

/** What a thread does with a file. */
export interface AnalysisOrder {
  readonly format: AudioFormat;
  readonly preview: boolean;
  /** A piece that is longer is refused. */
  readonly maxSeconds: number;
}

export type ToThread =
  /** The next file, to be asked for its bytes. */
  | { readonly kind: "order"; readonly order: AnalysisOrder }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "end" };

export type FromThread =
  /** The thread takes the next bytes. */
  | { readonly kind: "next" }
  | { readonly kind: "done"; readonly analysis: AudioAnalysis }
  | { readonly kind: "unreadable"; readonly message: string };
