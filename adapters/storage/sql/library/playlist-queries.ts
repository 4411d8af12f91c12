import type { AccountId, PlaylistId } from "../../../../core/ids.js";
import type { Playlist } from "../../../../core/library/playlist.js";
import type { PlaylistLimits } from "../../../../core/ports/library-store.js";
import type { ListPage, ListPosition } from "../../../../core/ports/list-page.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
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
import { columnsOf, type Session, sessionOf } from "../session.js";
import { TrackQueries } from "./track-queries.js";

const COLUMNS = columnsOf(PLAYLISTS);
const FIND_ONE = `SELECT ${COLUMNS} FROM {playlists} WHERE id = ?`;
const FIND = (marks: string): string => `SELECT ${COLUMNS} FROM {playlists} WHERE id IN (${marks})`;
const TRACKS_OF = (marks: string): string =>
  `SELECT ${columnsOf(PLAYLIST_TRACKS)} FROM {playlist_tracks} WHERE playlist_id IN (${marks})
    ORDER BY playlist_id, position`;
const COUNTS_OF = (marks: string): string =>
  `SELECT playlist_id, COUNT(*) AS total FROM {playlist_tracks} WHERE playlist_id IN (${marks}) GROUP BY playlist_id`;
const COUNT = "SELECT COUNT(*) AS total FROM {playlists} WHERE account_id = ?";
const UPDATE = "UPDATE {playlists} SET title = ?, visibility = ? WHERE id = ?";
const DELETE = "DELETE FROM {playlists} WHERE id = ?";
/** The first bound is what the index begins at: SQLite makes nothing of the OR. */
const BEHIND = "AND created_at <= ? AND (created_at < ? OR id < ?)";
const DELETE_TRACKS = "DELETE FROM {playlist_tracks} WHERE playlist_id = ?";

/** Adds playlists to the library's store. */
export class PlaylistQueries extends TrackQueries {
  async insertPlaylists(tx: Transaction, playlists: readonly Playlist[]): Promise<void> {
    const session = sessionOf(tx);
    await session.insert(PLAYLISTS, playlists.map(PLAYLISTS.toRow));
    await session.insert(PLAYLIST_TRACKS, playlists.flatMap(toPlaylistTrackRows));
    await insertSearchRows(session, searchRowsOfPlaylists(playlists));
  }

  findPlaylists(ids: readonly PlaylistId[]): Promise<Map<PlaylistId, Playlist>> {
    return this.database.reading(async (session) => {
      const playlists = await complete(session, await allIn<PlaylistRow>(session, FIND, ids));
      return new Map(playlists.map((playlist) => [playlist.id, playlist]));
    });
  }

  async lockPlaylist(tx: Transaction, id: PlaylistId): Promise<Playlist | null> {
    const session = sessionOf(tx);
    const rows = await session.all<PlaylistRow>(FIND_ONE + this.database.dialect.forUpdate, [id]);
    return (await complete(session, rows))[0] ?? null;
  }

  async updatePlaylist(tx: Transaction, { id, title, visibility, ...rest }: Playlist): Promise<void> {
    const session = sessionOf(tx);
    const [before] = await session.all<PlaylistRow>(FIND_ONE, [id]);
    if (before === undefined) return;
    await session.run(UPDATE, [title, visibility, id]);
    if (before.title !== title || before.visibility !== visibility) {
      const after = { ...before, title, visibility };
      await deleteSearchRows(session, searchRowsOfPlaylists([toPlaylist(before, [])]), this.database.dialect);
      await insertSearchRows(session, searchRowsOfPlaylists([toPlaylist(after, [])]));
    }
    await session.run(DELETE_TRACKS, [id]);
    await session.insert(PLAYLIST_TRACKS, toPlaylistTrackRows({ id, title, visibility, ...rest }));
  }

  async countPlaylists(tx: Transaction, accountId: AccountId): Promise<number> {
    const [row] = await sessionOf(tx).all<{ readonly total: number }>(COUNT, [accountId]);
    return row?.total ?? 0;
  }

  async deletePlaylist(tx: Transaction, id: PlaylistId): Promise<boolean> {
    const session = sessionOf(tx);
    // Waits for a transaction that changes the playlist: its rows in the index follow from its state after that.
    const before = await this.lockPlaylist(tx, id);
    if (before === null) return false;
    await session.run(DELETE, [id]);
    await session.run(DELETE_TRACKS, [id]);
    await deleteSearchRows(session, searchRowsOfPlaylists([before]), this.database.dialect);
    return true;
  }

  /** The newest public playlists and the newest of the viewer's own, each straight from an index. */
  listPlaylists(
    viewer: AccountId | null,
    limits: PlaylistLimits,
    after: ListPosition<PlaylistId> | null = null,
  ): Promise<ListPage<Playlist, ListPosition<PlaylistId>>> {
    const { useIndex } = this.database.dialect;
    const newest = `${after === null ? "" : BEHIND} ORDER BY created_at DESC, id DESC LIMIT ?`;
    const position = after === null ? [] : [after.createdAt, after.createdAt, after.id];
    // One more says whether anything follows.
    const asked = limits.playlists + 1;
    const own = `SELECT ${COLUMNS} FROM {playlists}${useIndex("playlists_account")} WHERE account_id = ? ${newest}`;
    const shared = `SELECT ${COLUMNS} FROM {playlists}${useIndex("playlists_visibility")}
      WHERE visibility = 'public' ${newest}`;
    return this.database.reading(async (session) => {
      const rows = [
        ...(viewer === null ? [] : await session.all<PlaylistRow>(own, [viewer, ...position, asked])),
        ...(await session.all<PlaylistRow>(shared, [...position, asked])),
      ];
      const distinct = [...new Map(rows.map((row) => [row.id, row])).values()];
      const sorted = distinct.sort(newestFirst);
      const first = await withinTracks(session, sorted.slice(0, limits.playlists), limits.tracks);
      const items = await complete(session, first);
      return { items, next: sorted.length > items.length ? (items.at(-1) ?? null) : null };
    });
  }
}

/**
 * The first of these playlists that hold at most so many tracks together. They are counted, so that those left out are
 * never read.
 */
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
