import type { ProviderFailureKind } from "../../sdk/index.js";
import type { RenderedAsset, SplitOrder } from "../order.js";

/** What the process of a split is asked for: a file in chunks, its stems, and the stems in chunks. */
export type SplitMessage =
  | { readonly kind: "begin" }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "split"; readonly operation: SplitOrder["operation"] }
  | { readonly kind: "read"; readonly stem: number; readonly offset: number }
  /** The stems are stored elsewhere: they take no memory here any more. */
  | { readonly kind: "end" };

/** A stem as it stands in the process. */
export interface StemInProcess extends Omit<RenderedAsset, "bytes"> {
  readonly sizeBytes: number;
}

export type SplitReply =
  | { readonly kind: "done" }
  | { readonly kind: "stems"; readonly stems: readonly StemInProcess[] }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "failed"; readonly failure: ProviderFailureKind; readonly message: string };

/** Of a stem in one reply. */
export const READ_BYTES = 4 * 1024 * 1024;
