import type { ProviderFailureKind } from "../../sdk/index.js";
import type { RenderedAsset, SplitSpec } from "../job-spec.js";

/** Requests to the process of a split: a file in chunks, its stems, and the stems in chunks. */
export type SplitMessage =
  | { readonly kind: "begin" }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "split"; readonly operation: SplitSpec["operation"] }
  | { readonly kind: "read"; readonly stem: number; readonly offset: number }
  /** The stems are stored elsewhere: the process may free them. */
  | { readonly kind: "end" };

/** A stem in the memory of the process. */
export interface StemInProcess extends Omit<RenderedAsset, "bytes"> {
  readonly sizeBytes: number;
}

export type SplitReply =
  | { readonly kind: "done" }
  | { readonly kind: "stems"; readonly stems: readonly StemInProcess[] }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "failed"; readonly failure: ProviderFailureKind; readonly message: string };

/** The most bytes of a stem in one reply. */
export const READ_BYTES = 4 * 1024 * 1024;
