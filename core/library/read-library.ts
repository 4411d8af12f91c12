import { PlaylistNotFoundError, TrackNotFoundError } from "../errors.js";
import { type AccountId, isId, type PlaylistId } from "../ids.js";
import { ListCursors, newestFirst } from "../lists/cursors.js";
import type { PageRequest } from "../lists/pages.js";
import type { Digest } from "../ports/digest.js";
import type { LibraryStore, PlaylistLimits } from "../ports/library-store.js";
import type { ListPage, ListPosition } from "../ports/list-page.js";
import { maySee } from "./access.js";
import type { TrackWithLyrics } from "./lyrics.js";
import type { Playlist } from "./playlist.js";
import type { LibrarySearch } from "./search.js";
import { FOUND_PLACE, type FoundPlace } from "./search-cursor.js";
import { type SearchInput, toSearch } from "./search-rules.js";
import type { Track } from "./track.js";

/** A playlist with those of its tracks that the viewer may see, in its order. */
export interface PlaylistWithTracks {
  readonly playlist: Playlist;
  readonly tracks: readonly Track[];
}

export interface FoundInLibrary {
  readonly tracks: readonly Track[];
  readonly playlists: readonly PlaylistWithTracks[];
  /** The cursor of what follows, of both; null: nothing does. */
  readonly next: string | null;
}

export const PLAYLISTS_LIMIT = { default: 200, minimum: 1, maximum: 200 } as const;
/** The most tracks of playlists in one response: its size must be one that a server can bear from many callers. */
const TRACKS_MAX: PlaylistLimits["tracks"] = 10_000;

const FROM_THE_BEST: FoundPlace = { tracks: undefined, playlists: undefined };
const NOTHING = { items: [], next: null } as const;

export interface ReadLibraryDeps {
  readonly library: LibraryStore;
  readonly digest: Pick<Digest, "sha256">;
}

/**
 * Tracks and playlists as a viewer may see them: those of its own account and public ones. What is another account's
 * own does not exist for it: no id, search, playlist or count reveals it.
 */
export class ReadLibrary {
  private readonly playlistCursors: ListCursors<ListPosition<PlaylistId>>;
  private readonly searchCursors: ListCursors<FoundPlace>;

  constructor(private readonly deps: ReadLibraryDeps) {
    this.playlistCursors = new ListCursors(deps.digest, "playlists", newestFirst("pls"));
    this.searchCursors = new ListCursors(deps.digest, "search", FOUND_PLACE);
  }

  /**
   * Playable tracks, and playlists, that match all of the search; of each the best first, at most `limit`. A page goes
   * on behind the one before in both; one of which all was shown is empty from then on.
   *
   * @throws {InvalidRequestError} a text too long, too many words, a limit out of bounds, a cursor of another search
   */
  async search(viewer: AccountId, input: SearchInput = {}): Promise<FoundInLibrary> {
    const search = toSearch(viewer, input);
    const scope = { accountId: viewer, filters: filtersOf(search) };
    const place = this.searchCursors.read(input.cursor, scope) ?? FROM_THE_BEST;
    const { library } = this.deps;
    const [tracks, playlists] = await Promise.all([
      place.tracks === null ? NOTHING : library.searchTracks({ ...search, after: place.tracks }),
      place.playlists === null ? NOTHING : library.searchPlaylists({ ...search, after: place.playlists }),
    ]);
    const next = { tracks: tracks.next, playlists: playlists.next };
    return {
      tracks: tracks.items,
      playlists: await this.withTracks(viewer, playlists.items),
      next: this.searchCursors.write(next.tracks === null && next.playlists === null ? null : next, scope),
    };
  }

  /** @throws {TrackNotFoundError} unknown, or not the viewer's to see */
  async track(viewer: AccountId, id: string): Promise<Track> {
    const track = isId("trk", id) ? (await this.deps.library.findTracks([id])).get(id) : undefined;
    if (track === undefined || !maySee(track, viewer)) throw new TrackNotFoundError();
    return track;
  }

  /**
   * A track and, where its provider gave any, its lyrics.
   *
   * @throws {TrackNotFoundError} unknown, or not the viewer's to see
   */
  async trackWithLyrics(viewer: AccountId, id: string): Promise<TrackWithLyrics> {
    const track = await this.track(viewer, id);
    return { track, lyrics: await this.deps.library.findLyrics(track.id) };
  }

  /**
   * Newest first: at most 200, and as many as hold 10,000 tracks together.
   *
   * @param viewer null: public ones alone
   */
  async playlists(viewer: AccountId | null): Promise<readonly PlaylistWithTracks[]> {
    return (await this.playlistPage(viewer)).items;
  }

  /**
   * A page of them, which ends before it holds more than 10,000 tracks.
   *
   * @throws {InvalidRequestError} the cursor is none of this list
   */
  async playlistPage(
    viewer: AccountId | null,
    { limit = PLAYLISTS_LIMIT.default, cursor }: PageRequest = {},
  ): Promise<ListPage<PlaylistWithTracks, string>> {
    const scope = { accountId: viewer };
    const after = this.playlistCursors.read(cursor, scope);
    const limits = { playlists: limit, tracks: TRACKS_MAX };
    const { items, next } = await this.deps.library.listPlaylists(viewer, limits, after);
    return { items: await this.withTracks(viewer, items), next: this.playlistCursors.write(next, scope) };
  }

  /** @throws {PlaylistNotFoundError} unknown, or not the viewer's to see */
  async playlist(viewer: AccountId, id: string): Promise<PlaylistWithTracks> {
    const playlist = isId("pls", id) ? (await this.deps.library.findPlaylists([id])).get(id) : undefined;
    if (playlist === undefined || !maySee(playlist, viewer)) throw new PlaylistNotFoundError();
    const [found] = await this.withTracks(viewer, [playlist]);
    return found as PlaylistWithTracks;
  }

  private async withTracks(viewer: AccountId | null, playlists: readonly Playlist[]): Promise<PlaylistWithTracks[]> {
    const ids = new Set(playlists.flatMap(({ trackIds }) => trackIds));
    const tracks = ids.size === 0 ? new Map<string, Track>() : await this.deps.library.findTracks([...ids]);
    return playlists.map((playlist) => ({
      playlist,
      tracks: playlist.trackIds.flatMap((id) => {
        const track = tracks.get(id);
        return track !== undefined && maySee(track, viewer) ? [track] : [];
      }),
    }));
  }
}

/** As they were understood: searches that find the same have the same cursors. */
function filtersOf({ words, mood, activity }: LibrarySearch): Readonly<Record<string, string | undefined>> {
  return { words: [...words].sort().join(" "), mood: mood ?? undefined, activity: activity ?? undefined };
}
