import type { AccountId, PlaylistId } from "../../../../core/ids.js";
import type { Playlist } from "../../../../core/library/playlist.js";
import type { PlaylistLimits } from "../../../../core/ports/library-store.js";
import type { Dialect } from "../dialect.js";
import { allIn, groupBy } from "../lists.js";
import {
  PLAYLIST_TRACKS,
  PLAYLISTS,
  type PlaylistRow,
  type PlaylistTrackRow,
  toPlaylist,
  toPlaylistTrackRows,
} from "./playlist-tables.js";
import { searchRowsOfPlaylists } from "./search/rows.js";
import { deleteSearchRows, insertSearchRows } from "./search/writes.js";
import { columnsOf, type Session } from "../session.js";

const COLUMNS = columnsOf(PLAYLISTS);
const FIND_ONE = `SELECT ${COLUMNS} FROM playlists WHERE id = ?`;
const FIND = (marks: string): string => `SELECT ${COLUMNS} FROM playlists WHERE id IN (${marks})`;
const TRACKS_OF = (marks: string): string =>
  `SELECT ${columnsOf(PLAYLIST_TRACKS)} FROM playlist_tracks WHERE playlist_id IN (${marks}) ORDER BY playlist_id, position`;
const COUNTS_OF = (marks: string): string =>
  `SELECT playlist_id, COUNT(*) AS total FROM playlist_tracks WHERE playlist_id IN (${marks}) GROUP BY playlist_id`;
const UPDATE = "UPDATE playlists SET title = ?, visibility = ? WHERE id = ?";
const DELETE = "DELETE FROM playlists WHERE id = ?";
const DELETE_TRACKS = "DELETE FROM playlist_tracks WHERE playlist_id = ?";

export async function insertPlaylists(session: Session, playlists: readonly Playlist[]): Promise<void> {
  await session.insert(PLAYLISTS, playlists.map(PLAYLISTS.toRow));
  await session.insert(PLAYLIST_TRACKS, playlists.flatMap(toPlaylistTrackRows));
  await insertSearchRows(session, searchRowsOfPlaylists(playlists));
}

function playlistRows(session: Session, ids: readonly PlaylistId[]): Promise<PlaylistRow[]> {
  return allIn<PlaylistRow>(session, FIND, ids);
}

export async function findPlaylists(session: Session, ids: readonly PlaylistId[]): Promise<Map<PlaylistId, Playlist>> {
  const playlists = await complete(session, await playlistRows(session, ids));
  return new Map(playlists.map((playlist) => [playlist.id, playlist]));
}

export async function lockPlaylist(
  session: Session,
  id: PlaylistId,
  { forUpdate }: Pick<Dialect, "forUpdate">,
): Promise<Playlist | null> {
  const [playlist] = await complete(session, await session.all<PlaylistRow>(FIND_ONE + forUpdate, [id]));
  return playlist ?? null;
}

export async function updatePlaylist(
  session: Session,
  playlist: Playlist,
  dialect: Pick<Dialect, "forUpdate">,
): Promise<void> {
  const [before] = await session.all<PlaylistRow>(FIND_ONE, [playlist.id]);
  if (before === undefined) return;
  await session.run(UPDATE, [playlist.title, playlist.visibility, playlist.id]);
  if (before.title !== playlist.title || before.visibility !== playlist.visibility) {
    await deleteSearchRows(session, searchRowsOfPlaylists([toPlaylist(before, [])]), dialect);
    await insertSearchRows(
      session,
      searchRowsOfPlaylists([toPlaylist({ ...before, title: playlist.title, visibility: playlist.visibility }, [])]),
    );
  }
  await session.run(DELETE_TRACKS, [playlist.id]);
  await session.insert(PLAYLIST_TRACKS, toPlaylistTrackRows(playlist));
}

/** @returns false when there was none */
export async function deletePlaylist(
  session: Session,
  id: PlaylistId,
  dialect: Pick<Dialect, "forUpdate">,
): Promise<boolean> {
  // Whoever locked it is waited for: what stands in the index follows from what it is then.
  const before = await lockPlaylist(session, id, dialect);
  if (before === null) return false;
  await session.run(DELETE, [id]);
  await session.run(DELETE_TRACKS, [id]);
  await deleteSearchRows(session, searchRowsOfPlaylists([before]), dialect);
  return true;
}

/** The newest of what is public and the newest of the viewer's own, each straight from an index. */
export async function listPlaylists(
  session: Session,
  viewer: AccountId,
  limits: PlaylistLimits,
  { useIndex }: Pick<Dialect, "useIndex">,
): Promise<Playlist[]> {
  const newest = `ORDER BY created_at DESC, id DESC LIMIT ?`;
  const own = `SELECT ${COLUMNS} FROM playlists${useIndex("playlists_account")} WHERE account_id = ? ${newest}`;
  const shared = `SELECT ${COLUMNS} FROM playlists${useIndex("playlists_visibility")} WHERE visibility = 'public' ${newest}`;
  const rows = [
    ...(await session.all<PlaylistRow>(own, [viewer, limits.playlists])),
    ...(await session.all<PlaylistRow>(shared, [limits.playlists])),
  ];
  const distinct = [...new Map(rows.map((row) => [row.id, row])).values()];
  return complete(
    session,
    await withinTracks(session, distinct.sort(newestFirst).slice(0, limits.playlists), limits.tracks),
  );
}

/** The first of these playlists that hold at most so many tracks together. They are counted, so that those left out are never read. */
async function withinTracks(
  session: Session,
  rows: readonly PlaylistRow[],
  tracksMax: number,
): Promise<readonly PlaylistRow[]> {
  const counted = await allIn<{ readonly playlist_id: PlaylistId; readonly total: number }>(
    session,
    COUNTS_OF,
    rows.map(({ id }) => id),
  );
  const counts = new Map(counted.map(({ playlist_id, total }) => [playlist_id, total]));
  let tracks = 0;
  for (const [index, { id }] of rows.entries()) {
    tracks += counts.get(id) ?? 0;
    if (tracks > tracksMax && index > 0) return rows.slice(0, index);
  }
  return rows;
}

async function complete(session: Session, rows: readonly PlaylistRow[]): Promise<Playlist[]> {
  const ids = rows.map(({ id }) => id);
  const tracks = groupBy(await allIn<PlaylistTrackRow>(session, TRACKS_OF, ids), (row) => row.playlist_id);
  return rows.map((row) => toPlaylist(row, tracks.get(row.id) ?? []));
}

function newestFirst(a: PlaylistRow, b: PlaylistRow): number {
  if (a.created_at !== b.created_at) return b.created_at - a.created_at;
  return a.id < b.id ? 1 : -1;
}
