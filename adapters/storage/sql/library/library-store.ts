import type { Playlist } from "../../../../core/library/playlist.js";
import type { LibrarySearch, SearchPosition } from "../../../../core/library/search.js";
import type { Track } from "../../../../core/library/track.js";
import type { LibraryStore } from "../../../../core/ports/library-store.js";
import type { ListPage } from "../../../../core/ports/list-page.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import type { KnexDatabase } from "../database.js";
import type { Reads } from "../replica.js";
import { sessionOf } from "../session.js";
import { PlaylistQueries } from "./playlist-queries.js";
import { LibrarySearchQueries, SEARCH_LIMITS, type SearchLimits } from "./search/library-search.js";
import { indexSegment } from "./search/writes.js";

/** Tracks and playlists, and the searches of both. */
export class KnexLibraryStore extends PlaylistQueries implements LibraryStore {
  private readonly searches: LibrarySearchQueries;

  constructor(
    database: KnexDatabase,
    private readonly searchLimits: SearchLimits = SEARCH_LIMITS,
    private readonly reads: Reads = database,
  ) {
    super(database);
    this.searches = new LibrarySearchQueries(searchLimits, database.dialect, this);
  }

  searchTracks(search: LibrarySearch): Promise<ListPage<Track, SearchPosition>> {
    return this.reads.reading((session) => this.searches.tracks(session, search));
  }

  searchPlaylists(search: LibrarySearch): Promise<ListPage<Playlist, SearchPosition>> {
    return this.reads.reading((session) => this.searches.playlists(session, search));
  }

  indexPending(tx: Transaction): Promise<boolean> {
    return indexSegment(sessionOf(tx), this.searchLimits.segment, this.database.dialect);
  }
}
