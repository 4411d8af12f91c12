import type { TrackId } from "../../../../core/ids.js";
import type { Lyrics, NewTrack } from "../../../../core/library/lyrics.js";
import { columnsOf, type Session } from "../session.js";
import { json, named, plain, type RowOf, table } from "../table.js";

const TRACK_LYRICS = table(
  "track_lyrics",
  {
    trackId: plain<TrackId>(),
    text: named("lyrics", plain<string>()),
    /** null where the provider gave no times. */
    words: json<Lyrics["words"]>(),
  },
  ["trackId"],
);
type LyricsRow = RowOf<typeof TRACK_LYRICS>;

const FIND = `SELECT ${columnsOf(TRACK_LYRICS)} FROM track_lyrics WHERE track_id = ?`;

/** Of those of the tracks that have lyrics. */
export function insertLyrics(session: Session, tracks: readonly NewTrack[]): Promise<void> {
  return session.insert(TRACK_LYRICS, tracks.flatMap(toRows));
}

function toRows({ id: trackId, lyrics = null }: NewTrack): LyricsRow[] {
  return lyrics === null ? [] : [TRACK_LYRICS.toRow({ trackId, ...lyrics })];
}

/** @returns null when the track has none */
export async function findLyrics(session: Session, id: TrackId): Promise<Lyrics | null> {
  const [row] = await session.all<LyricsRow>(FIND, [id]);
  if (row === undefined) return null;
  const { text, words } = TRACK_LYRICS.fromRow(row);
  return { text, words };
}
