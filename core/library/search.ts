import type { AccountId, PlaylistId, TrackId } from "../ids.js";
import type { ListPosition } from "../ports/list-page.js";

/** A place among what a search finds. */
export interface SearchPosition extends ListPosition<TrackId | PlaylistId> {
  /** By relevance: 0 is the best, and comes first. */
  readonly rank: number;
}

/**
 * A search of the library.
 *
 * Relevance is where the words were found: all of them in the title, before all in title, artist or tags, before all in
 * these or the prompt.
 *
 * @see decisions, "Library"
 */
export interface LibrarySearch {
  readonly viewer: AccountId;
  /** Folded ({@link foldWords}); each must start a word of what is searched. None: everything matches. */
  readonly words: readonly string[];
  /** Folded tags; null: any. */
  readonly mood: string | null;
  readonly activity: string | null;
  readonly limit: number;
  /** Only what comes behind this one; undefined: from the best on. */
  readonly after?: SearchPosition | undefined;
}
