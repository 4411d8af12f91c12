import type { LyricsWord, ProviderLyrics } from "../ports/music-provider.js";
import type { Track } from "./track.js";

/**
 * What the provider of a track says it sang. Lyrics that a caller gave are on the request of the job, and are not
 * copied here.
 */
export interface Lyrics {
  /** Lines are separated by `\n`. */
  readonly text: string;
  /** In the order of their beginnings; null where the provider gave no times. */
  readonly words: readonly LyricsWord[] | null;
}

/** A track that is about to be stored. Its lyrics are stored on their own, so that lists of tracks do not read them. */
export interface NewTrack extends Track {
  readonly lyrics?: Lyrics | null;
}

export interface TrackWithLyrics {
  readonly track: Track;
  /** null when its provider gave none. */
  readonly lyrics: Lyrics | null;
}

/** null when the provider gave none. */
export function toLyrics(given: ProviderLyrics | undefined): Lyrics | null {
  return given === undefined ? null : { text: given.text, words: given.words ?? null };
}
