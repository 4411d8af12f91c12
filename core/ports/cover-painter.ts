import type { TrackTags } from "./music-provider.js";

/** What a cover is painted from. */
export interface CoverSubject {
  /** The seed that distinguishes this picture from all others. */
  readonly seed: string;
  readonly tags: TrackTags;
}

/**
 * Paints covers for tracks that have none. Equal subjects give equal bytes. Replaced through the override
 * `coverPainter` of `compose`.
 */
export interface CoverPainter {
  /** A square PNG of less than 100 kB. */
  paint(subject: CoverSubject): Promise<Uint8Array>;
}
