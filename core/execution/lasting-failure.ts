import { ProviderFailure, type ProviderFailureKind } from "../ports/music-provider.js";

const LASTING = [
  "failed",
  "content_rejected",
  "invalid_input",
  "cancelled",
  "gone",
] as const satisfies readonly ProviderFailureKind[];

/** What will be no better next time. */
export type LastingFailure = ProviderFailure & { readonly kind: (typeof LASTING)[number] };

/** True for what will be no better next time; anything else may pass. */
export function isLasting(error: unknown): error is LastingFailure {
  return ProviderFailure.is(error) && LASTING.some((kind) => kind === error.kind);
}
