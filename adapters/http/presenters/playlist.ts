import { setImmediate as nextTurn } from "node:timers/promises";
import type { PlaylistWithTracks } from "../../../core/library/read-library.js";
import type { Track as LibraryTrack } from "../../../core/library/track.js";
import { presentTrack, type Track, type TrackLinks } from "./track.js";

/** So many are signed in some 10 ms. */
const TRACKS_PER_TURN = 500;

/** Tracks in the order that their owner chose. */
export interface Playlist {
  id: string;
  title: string;
  /**
   * How many tracks are shown.
   * @isInt
   */
  track_count: number;
  /** Without those that the caller may not play. */
  tracks: Track[];
}

export function presentPlaylist(found: PlaylistWithTracks, links: TrackLinks): Playlist {
  return present(found, (track) => presentTrack(track, links));
}

/**
 * The same of many, which often hold the same tracks: each is signed once. Whatever else the process has to do has its
 * turn in between.
 */
export async function presentPlaylists(found: readonly PlaylistWithTracks[], links: TrackLinks): Promise<Playlist[]> {
  const presented = new Map<string, Track>();
  const once = (track: LibraryTrack): Track => {
    const shown = presented.get(track.id) ?? presentTrack(track, links);
    presented.set(track.id, shown);
    return shown;
  };
  const playlists: Playlist[] = [];
  let left = TRACKS_PER_TURN;
  for (const each of found) {
    if (left <= 0) {
      await nextTurn();
      left = TRACKS_PER_TURN;
    }
    playlists.push(present(each, once));
    left -= each.tracks.length;
  }
  return playlists;
}

function present({ playlist, tracks }: PlaylistWithTracks, toTrack: (track: LibraryTrack) => Track): Playlist {
  return { id: playlist.id, title: playlist.title, track_count: tracks.length, tracks: tracks.map(toTrack) };
}
