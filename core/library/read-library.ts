import { PlaylistNotFoundError, TrackNotFoundError } from "../errors.js";
import { type AccountId, isId } from "../ids.js";
import type { LibraryStore, PlaylistLimits } from "../ports/library-store.js";
import { maySee } from "./access.js";
import type { TrackWithLyrics } from "./lyrics.js";
import type { Playlist } from "./playlist.js";
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
}

/** The most playlists in one response: its size must be one that a server can bear from many callers. */
export const PLAYLISTS_MAX: PlaylistLimits = { playlists: 200, tracks: 10_000 };

export interface ReadLibraryDeps {
  readonly library: LibraryStore;
}

/**
 * Tracks and playlists as a viewer may see them: those of its own account and public ones. What is another account's
 * own does not exist for it: no id, search, playlist or count reveals it.
 */
export class ReadLibrary {
  constructor(private readonly deps: ReadLibraryDeps) {}

  /**
   * Playable tracks, and playlists, that match all of the search; of each the best first, at most `limit`.
   *
   * @throws {InvalidRequestError} a text too long, too many words, a limit out of bounds
   */
  async search(viewer: AccountId, input: SearchInput = {}): Promise<FoundInLibrary> {
    const search = toSearch(viewer, input);
    const [tracks, playlists] = await Promise.all([
      this.deps.library.searchTracks(search),
      this.deps.library.searchPlaylists(search),
    ]);
    return { tracks, playlists: await this.withTracks(viewer, playlists) };
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

  /** Newest first, as far as {@link PLAYLISTS_MAX} goes. @param viewer null: public ones alone */
  async playlists(viewer: AccountId | null): Promise<PlaylistWithTracks[]> {
    return this.withTracks(viewer, await this.deps.library.listPlaylists(viewer, PLAYLISTS_MAX));
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
