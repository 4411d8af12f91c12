import type { PlaylistId, TrackId } from "../../../../../core/ids.js";
import type { Playlist } from "../../../../../core/library/playlist.js";
import type { LibrarySearch, SearchPosition } from "../../../../../core/library/search.js";
import type { Track } from "../../../../../core/library/track.js";
import type { LibraryStore } from "../../../../../core/ports/library-store.js";
import type { ListPage } from "../../../../../core/ports/list-page.js";
import type { Dialect } from "../../dialect.js";
import { allIn, inOrder } from "../../lists.js";
import { conditionsOf, PLAYLIST_CLASSES, PLAYLIST_PLACES, testsOf, TRACK_CLASSES } from "./conditions.js";
import { type Hit, isBehind, newestFirst, positionOf, toHit } from "./hits.js";
import { findBest, type Search } from "./queries.js";
import { SEGMENT_ITEMS } from "./positions.js";
import { partitionsOf, tagMark } from "./rows.js";
import type { Session } from "../../session.js";

/** Sizes of a search. With low ones, tests need few items instead of millions. */
export interface SearchLimits {
  /** Items of a segment. */
  readonly segment: number;
  /** Unindexed items that are looked at in the first go. */
  readonly stride: number;
  /** With fewer matching tracks than these, playlists are looked up by the tracks that they hold. */
  readonly fewTracks: number;
  /** Playlists that are looked into in the first go. */
  readonly playlists: number;
}

export const SEARCH_LIMITS: SearchLimits = { segment: SEGMENT_ITEMS, stride: 5_000, fewTracks: 1_000, playlists: 50 };

/** How much longer each page is than the one before: a search that needs many needs them soon. */
const GROWTH = 4;

/** Searches of the library, on a session that they are given. */
export class LibrarySearchQueries {
  constructor(
    private readonly limits: SearchLimits,
    private readonly dialect: Pick<Dialect, "useIndex" | "joinBehind" | "usePrimaryKey">,
    private readonly library: Pick<LibraryStore, "findTracks" | "findPlaylists">,
  ) {}

  async tracks(session: Session, search: LibrarySearch): Promise<ListPage<Track, SearchPosition>> {
    const { hits, next } = pageOf(await this.trackHits(session, search, search.limit + 1), search);
    const ids = hits.map(trackId);
    return { items: inOrder(ids, await this.library.findTracks(ids)), next };
  }

  async playlists(session: Session, search: LibrarySearch): Promise<ListPage<Playlist, SearchPosition>> {
    const { hits, next } = pageOf(await this.playlistHits(session, search), search);
    const ids = hits.map(playlistId);
    return { items: inOrder(ids, await this.library.findPlaylists(ids)), next };
  }

  /** One more than are asked for. */
  private async playlistHits(session: Session, search: LibrarySearch): Promise<Hit[]> {
    if (search.mood === null && search.activity === null) return this.titled(session, search, search.limit + 1);
    const held = { ...search, words: [], after: undefined };
    const tracks = await this.trackHits(session, held, this.limits.fewTracks);
    return tracks.length < this.limits.fewTracks
      ? this.holding(session, search, tracks.map(trackId))
      : this.lookInto(session, search);
  }

  private trackHits(session: Session, search: LibrarySearch, limit: number): Promise<Hit[]> {
    return this.best(session, {
      partitions: partitionsOf("tracks", search.viewer),
      classes: TRACK_CLASSES,
      wanted: search,
      limit,
      after: afterOf(search),
    });
  }

  /** Playlists by their titles alone. */
  private titled(session: Session, search: LibrarySearch, limit: number): Promise<Hit[]> {
    const { viewer, words } = search;
    const wanted = { words, mood: null, activity: null };
    return this.best(session, {
      partitions: partitionsOf("playlists", viewer),
      classes: PLAYLIST_CLASSES,
      wanted,
      limit,
      after: afterOf(search),
    });
  }

  private best(session: Session, search: Omit<Search, "stride">): Promise<Hit[]> {
    return findBest(session, { ...search, stride: this.limits.stride });
  }

  /** From the tracks to the playlists. */
  private async holding(session: Session, search: LibrarySearch, trackIds: readonly TrackId[]): Promise<Hit[]> {
    const { viewer, words } = search;
    const tests = testsOf(conditionsOf({ words, mood: null, activity: null }, PLAYLIST_PLACES));
    // The partitions hold no private playlists of others; the condition on the playlist is a second line.
    const text = (list: string): string => `SELECT DISTINCT i.created_at, i.item_id
      FROM {playlist_tracks} AS h${this.dialect.useIndex("playlist_tracks_track")}
      JOIN {playlists} AS p ON p.id = h.playlist_id AND (p.visibility = 'public' OR p.account_id = ?)
      JOIN {search_items} AS i ON i.shelf IN (?, ?) AND i.created_at = p.created_at AND i.item_id = p.id
      WHERE ${tests.text} AND h.track_id IN (${list})`;
    const rows = await allIn<Omit<Hit, "class">>(session, text, trackIds, [
      viewer,
      ...partitionsOf("playlists", viewer),
      ...tests.values,
    ]);
    const hits = [...new Map(rows.map((hit) => [hit.item_id, { ...hit, class: 0 }])).values()];
    const after = afterOf(search);
    return hits.filter((hit) => isBehind(hit, after)).sort(newestFirst);
  }

  /** From the playlists to the tracks: where so many match, those that hold none are few. */
  private async lookInto(session: Session, search: LibrarySearch): Promise<Hit[]> {
    const found: Hit[] = [];
    let seen = 0;
    for (let length = this.limits.playlists; found.length <= search.limit; length *= GROWTH) {
      const hits = await this.titled(session, search, length);
      const ids = await this.withMatch(session, search, hits.slice(seen).map(playlistId));
      found.push(...hits.slice(seen).filter((hit) => ids.has(playlistId(hit))));
      seen = hits.length;
      if (hits.length < length) break;
    }
    return found;
  }

  /** Of these playlists, those that hold a matching track. */
  private async withMatch(
    session: Session,
    { viewer, mood, activity }: LibrarySearch,
    ids: readonly PlaylistId[],
  ): Promise<Set<PlaylistId>> {
    const marks = [
      ...(mood === null ? [] : [tagMark("mood", mood)]),
      ...(activity === null ? [] : [tagMark("activity", activity)]),
    ];
    const { joinBehind, usePrimaryKey } = this.dialect;
    // From these playlists on: the items with the marks may be most of all.
    const text = (list: string): string => `SELECT DISTINCT p.playlist_id FROM {playlist_tracks} AS p
      ${joinBehind} {tracks} AS t ON t.id = p.track_id
      ${joinBehind} {search_items} AS i${usePrimaryKey}
        ON i.shelf IN (?, ?) AND i.created_at = t.created_at AND i.item_id = t.id
      WHERE ${marks.map(() => "INSTR(i.tags, ?) > 0").join(" AND ")} AND p.playlist_id IN (${list})`;
    const rows = await allIn<{ readonly playlist_id: PlaylistId }>(session, text, ids, [
      ...partitionsOf("tracks", viewer),
      ...marks,
    ]);
    return new Set(rows.map((row) => row.playlist_id));
  }
}

/** What was found as far as the limit goes; hits beyond it say that something follows. */
function pageOf(
  found: readonly Hit[],
  { limit }: LibrarySearch,
): { readonly hits: readonly Hit[]; readonly next: SearchPosition | null } {
  const hits = found.slice(0, limit);
  const last = hits.at(-1);
  return { hits, next: found.length > limit && last !== undefined ? positionOf(last) : null };
}

function afterOf({ after }: LibrarySearch): Hit | null {
  return after === undefined ? null : toHit(after);
}

const trackId = ({ item_id }: Pick<Hit, "item_id">): TrackId => item_id as TrackId;
const playlistId = ({ item_id }: Pick<Hit, "item_id">): PlaylistId => item_id as PlaylistId;
