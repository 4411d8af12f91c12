import type { TrackId } from "../../../../core/ids.js";
import type { Lyrics, NewTrack } from "../../../../core/library/lyrics.js";
import { columnsOf } from "../session.js";
import { json, named, plain, type RowOf, table } from "../table.js";

export const TRACK_LYRICS = table(
  "track_lyrics",
  {
    trackId: plain<TrackId>(),
    text: named("lyrics", plain<string>()),
    /** null where the provider gave no times. */
    words: json<Lyrics["words"]>(),
  },
  ["trackId"],
);
export type LyricsRow = RowOf<typeof TRACK_LYRICS>;

export const LYRICS_OF = `SELECT ${columnsOf(TRACK_LYRICS)} FROM {track_lyrics} WHERE track_id = ?`;

/** A track without lyrics has no row. */
export function toLyricsRows({ id: trackId, lyrics = null }: NewTrack): LyricsRow[] {
  return lyrics === null ? [] : [TRACK_LYRICS.toRow({ trackId, ...lyrics })];
}

export function toLyrics(row: LyricsRow): Lyrics {
  const { text, words } = TRACK_LYRICS.fromRow(row);
  return { text, words };
}
