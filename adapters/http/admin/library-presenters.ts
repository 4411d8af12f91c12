import type { SplitOffer as OfferedSplit } from "../../../core/generations/accept-split.js";
import type { TrackWithLyrics } from "../../../core/library/lyrics.js";
import type { PlaylistWithTracks } from "../../../core/library/read-library.js";
import type { Track as LibraryTrack } from "../../../core/library/track.js";
import { timestamp } from "../presenters/time.js";
import { type Lyrics, presentSingleTrack, presentTrack, type Track, type TrackLinks } from "../presenters/track.js";
import { presentSplitOffer, type SplitOffer } from "../presenters/track-details.js";

/** A track with what operators see of it. */
export interface AdminTrack extends Track {
  /** Whose it is; null: no one's. */
  account: string | null;
  /** Sharing a track opens its page, and leaves this as it is. */
  visibility: "public" | "private";
  /** @format date-time */
  created_at: string;
}

export function presentAdminTrack(track: LibraryTrack, links: TrackLinks): AdminTrack {
  return { ...presentTrack(track, links), ...ownerOf(track) };
}

/** A track as it is shown alone. */
export interface AdminTrackReport extends AdminTrack {
  /** What its provider says it sang; left out where it gave none. */
  lyrics?: Lyrics;
  /** How it can be split here, and for how much. Empty when it cannot. */
  splits: SplitOffer[];
}

export function presentTrackReport(
  found: TrackWithLyrics,
  splits: readonly OfferedSplit[],
  links: TrackLinks,
): AdminTrackReport {
  return { ...presentSingleTrack(found, links), ...ownerOf(found.track), splits: splits.map(presentSplitOffer) };
}

/** A playlist in a list. */
export interface AdminPlaylist {
  id: string;
  title: string;
  /** Whose it is; null: no one's. */
  account: string | null;
  visibility: "public" | "private";
  /**
   * How many tracks are shown: for a list of an account, those that it may play.
   * @isInt
   */
  track_count: number;
  /** @format date-time */
  created_at: string;
}

export function presentAdminPlaylist({ playlist, tracks }: PlaylistWithTracks): AdminPlaylist {
  return { id: playlist.id, title: playlist.title, ...ownerOf(playlist), track_count: tracks.length };
}

/** A playlist with all that it holds, regardless of who may play it. */
export interface AdminPlaylistReport extends AdminPlaylist {
  tracks: AdminTrack[];
}

export function presentPlaylistReport(found: PlaylistWithTracks, links: TrackLinks): AdminPlaylistReport {
  return { ...presentAdminPlaylist(found), tracks: found.tracks.map((track) => presentAdminTrack(track, links)) };
}

function ownerOf({
  accountId,
  visibility,
  createdAt,
}: Pick<LibraryTrack, "accountId" | "visibility" | "createdAt">): Pick<
  AdminTrack,
  "account" | "visibility" | "created_at"
> {
  return { account: accountId, visibility, created_at: timestamp(createdAt) };
}
