export type ZipRequest =
  /** The file of exactly this name with its path, else of this name in any folder. */
  | { readonly kind: "open"; readonly path: string; readonly name: string; readonly maxBytes: number }
  | { readonly kind: "read" };

export type ZipReply =
  | { readonly kind: "opened" }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "end" }
  | { readonly kind: "refused"; readonly message: string };
