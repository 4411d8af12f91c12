import { OperationRefusedError } from "../errors.js";
import type { AccountId, TrackId } from "../ids.js";
import { maySee } from "./access.js";
import { type Playlist, PLAYLIST_TRACKS_MAX } from "./playlist.js";
import type { Track } from "./track.js";

/** Of a playlist and of an imported track, in code points. */
export const TITLE_MAX_LENGTH = 200;

/** The changes; members that are left out stay. Removing comes before adding, moving last. */
export interface PlaylistChanges {
  readonly title?: string | undefined;
  readonly visibility?: Playlist["visibility"] | undefined;
  /** Replaces all tracks, in this order; excludes the following members. */
  readonly tracks?: readonly string[] | undefined;
  /** At the end, in this order; a track that is held already stays where it is. */
  readonly add?: readonly string[] | undefined;
  /** A track that is not in the playlist is no issue. */
  readonly remove?: readonly string[] | undefined;
  /** To this place among the tracks, from 0; a place behind the end is the end. */
  readonly move?: { readonly track: string; readonly to: number } | undefined;
}

/** What is wrong with a title; null when nothing is. */
export function titleIssue(title: string): string | null {
  const length = [...title].length;
  if (length < 1 || length > TITLE_MAX_LENGTH) return `must have 1 to ${TITLE_MAX_LENGTH} characters; got ${length}`;
  if (title.trim() === "") return "must not be blank";
  if (/\p{Cc}/u.test(title)) return "must be one line, without control characters";
  return title.isWellFormed() ? null : "must be well-formed Unicode";
}

/** @throws {OperationRefusedError} an invalid title, or a private playlist without an owner */
export function checkPlaylist({
  title,
  visibility,
  accountId,
}: Pick<Playlist, "title" | "visibility" | "accountId">): void {
  const issue = titleIssue(title);
  if (issue !== null) throw new OperationRefusedError(`A playlist's title ${issue}.`);
  if (visibility === "public" || accountId !== null) return;
  throw new OperationRefusedError("A private playlist needs an account that it belongs to.");
}

/**
 * The playlist's tracks after the changes. Whether a new one is there, and may be held, is {@link checkHeld}'s to say.
 *
 * @throws {OperationRefusedError} `tracks` together with other changes of them, or with one twice; a move of a track
 *   that is not in it; too many
 */
export function changedTracks(
  held: readonly TrackId[],
  { tracks, add = [], remove = [], move }: PlaylistChanges,
): TrackId[] {
  if (tracks !== undefined && (add.length > 0 || remove.length > 0 || move !== undefined)) {
    throw new OperationRefusedError("Replace all tracks of a playlist, or add, remove and move some; not both.");
  }
  // Before anything that takes longer the more there are.
  checkCount(tracks?.length ?? 0);
  const twice = firstRepeated(tracks ?? []);
  if (twice !== null) throw new OperationRefusedError(`A playlist holds a track once; ${twice} is named twice.`);
  const removed = new Set(remove);
  const changed = tracks === undefined ? [...new Set([...held.filter((id) => !removed.has(id)), ...add])] : [...tracks];
  checkCount(changed.length);
  if (move !== undefined) moveWithin(changed, move);
  return changed as TrackId[];
}

function checkCount(count: number): void {
  if (count <= PLAYLIST_TRACKS_MAX) return;
  throw new OperationRefusedError(`A playlist holds at most ${PLAYLIST_TRACKS_MAX} tracks; it would be ${count}.`);
}

function firstRepeated(ids: readonly string[]): string | null {
  const seen = new Set<string>();
  for (const id of ids) {
    if (seen.has(id)) return id;
    seen.add(id);
  }
  return null;
}

function moveWithin(tracks: string[], { track, to }: NonNullable<PlaylistChanges["move"]>): void {
  const from = tracks.indexOf(track);
  if (from < 0) throw new OperationRefusedError(`The playlist does not hold the track ${track}.`);
  const isPlace = Number.isSafeInteger(to) && to >= 0;
  if (!isPlace) throw new OperationRefusedError(`A place among the tracks is a whole number from 0 on; got ${to}.`);
  tracks.splice(from, 1);
  tracks.splice(to, 0, track);
}

/**
 * A playlist takes what its owner may play: public tracks, and the owner's own. What is not there and what is another's
 * own are refused alike.
 *
 * @param tracks those of `ids` that there are
 * @throws {OperationRefusedError} naming the ids
 */
export function checkHeld(ids: readonly string[], tracks: ReadonlyMap<string, Track>, ownerId: AccountId | null): void {
  const refused = ids.filter((id) => {
    const track = tracks.get(id);
    return track === undefined || !maySee(track, ownerId);
  });
  if (refused.length === 0) return;
  const whose = ownerId === null ? "public track" : `track that ${ownerId} may play`;
  throw new OperationRefusedError(refused.map((id) => `There is no ${whose} ${id}.`).join("\n"));
}
