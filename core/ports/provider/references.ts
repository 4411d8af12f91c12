import type { AssetContentType } from "./assets.js";
import type { ProviderCost } from "./outcomes.js";

/**
 * What a generation may do with a track:
 * - `extend`: go on from its end, or from an earlier point
 * - `cover`: create the same music again
 * - `inpaint`: replace what is between two points
 */
export const REFERENCE_MODES = ["extend", "cover", "inpaint"] as const;

export type ReferenceMode = (typeof REFERENCE_MODES)[number];

/** Which tracks a provider takes. */
export interface SourceLimits {
  /** `own`: only tracks that this provider created; needs `SourceAudio.reference`. */
  readonly sources: "any" | "own";
  /** Types of file that it takes; a track in none of these is not given to it. Left out: any. */
  readonly contentTypes?: readonly AssetContentType[];
  readonly maxBytes?: number;
  readonly maxSeconds?: number;
  /**
   * True: it fetches the file by `SourceAudio.url`, so an installation without a public address gives it no such job,
   * and does not list the mode. False, or left out: the bytes are enough, and no address is needed.
   */
  readonly needsUrl?: boolean;
  /** What it is expected to cost there; for a mode of a model the model's own by default. */
  readonly upstreamCost?: ProviderCost;
}

/** What a model takes of a track in one mode. */
export interface ReferenceCapability extends SourceLimits {
  /** Whole credits for one generation in this mode; the model's own `creditCost` by default. */
  readonly creditCost?: number;
  /** True: `strength` may be given. False, or left out: a request with it is refused before a job exists. */
  readonly takesStrength?: boolean;
}

/** The modes that a model has. */
export type ReferenceModes = { readonly [Mode in ReferenceMode]?: ReferenceCapability };
