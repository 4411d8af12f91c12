import { InputRefusedError, type RequestIssue } from "../errors.js";
import type { AccountId, TrackId } from "../ids.js";
import { maySee } from "./access.js";
import { type Playlist, PLAYLIST_TRACKS_MAX, PLAYLISTS_PER_ACCOUNT_MAX } from "./playlist.js";
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

/** @throws {InputRefusedError} an invalid title, or a private playlist without an owner */
export function checkPlaylist({
  title,
  visibility,
  accountId,
}: Pick<Playlist, "title" | "visibility" | "accountId">): void {
  const issue = titleIssue(title);
  if (issue !== null) throw refused(`A playlist's title ${issue}.`, "title", issue);
  if (visibility === "public" || accountId !== null) return;
  throw refused("A private playlist needs an account that it belongs to.", "visibility", "must be public without one");
}

/**
 * The playlist's tracks after the changes. Whether a new one is there, and may be held, is {@link checkHeld}'s to say.
 *
 * @throws {InputRefusedError} `tracks` together with other changes of them, or with one twice; a move of a track
 *   that is not in it; too many
 */
export function changedTracks(
  held: readonly TrackId[],
  { tracks, add = [], remove = [], move }: PlaylistChanges,
): TrackId[] {
  if (tracks !== undefined && (add.length > 0 || remove.length > 0 || move !== undefined)) {
    const message = "Replace all tracks of a playlist, or add, remove and move some; not both.";
    throw refused(message, "tracks", "must not be there together with add, remove or move");
  }
  // Before anything that takes longer the more there are.
  checkCount("tracks", tracks?.length ?? 0);
  checkRepeated(tracks ?? []);
  const removed = new Set(remove);
  const changed = tracks === undefined ? [...new Set([...held.filter((id) => !removed.has(id)), ...add])] : [...tracks];
  checkCount(tracks === undefined ? "add" : "tracks", changed.length);
  if (move !== undefined) moveWithin(changed, move);
  return changed as TrackId[];
}

/** @throws {InputRefusedError} the account has as many playlists as it may have */
export function checkPlaylistCount(count: number): void {
  if (count < PLAYLISTS_PER_ACCOUNT_MAX) return;
  const message = `would be one more than the ${PLAYLISTS_PER_ACCOUNT_MAX} playlists that an account may have`;
  throw refused(`The playlist ${message}; delete one first.`, "title", `${message}; delete one first`);
}

function checkCount(member: "tracks" | "add", count: number): void {
  if (count <= PLAYLIST_TRACKS_MAX) return;
  const message = `A playlist holds at most ${PLAYLIST_TRACKS_MAX} tracks; it would be ${count}.`;
  throw refused(message, member, `must leave at most ${PLAYLIST_TRACKS_MAX} tracks; it would be ${count}`);
}

function checkRepeated(ids: readonly string[]): void {
  const seen = new Set<string>();
  for (const [index, id] of ids.entries()) {
    if (seen.has(id)) {
      const message = `A playlist holds a track once; ${id} is named twice.`;
      throw refused(message, `tracks[${index}]`, "names a track a second time; a playlist holds a track once");
    }
    seen.add(id);
  }
}

function moveWithin(tracks: string[], { track, to }: NonNullable<PlaylistChanges["move"]>): void {
  const from = tracks.indexOf(track);
  if (from < 0) {
    const message = `The playlist does not hold the track ${track}.`;
    throw refused(message, "move.track", "must be a track that the playlist holds");
  }
  const isPlace = Number.isSafeInteger(to) && to >= 0;
  if (!isPlace) {
    const message = `A place among the tracks is a whole number from 0 on; got ${to}.`;
    throw refused(message, "move.to", `must be a whole number from 0 on; got ${to}`);
  }
  tracks.splice(from, 1);
  tracks.splice(to, 0, track);
}

/** A track that a change brings, and where the change names it. */
export interface BroughtTrack {
  readonly id: string;
  /** `tracks[3]`, `add[0]` */
  readonly place: string;
}

/** The tracks of these changes that are not held already: those that {@link checkHeld} has to look at. */
export function broughtTracks(
  held: readonly TrackId[],
  { tracks = [], add = [] }: Pick<PlaylistChanges, "tracks" | "add">,
): BroughtTrack[] {
  const before = new Set<string>(held);
  const named = [...withPlaces("tracks", tracks), ...withPlaces("add", add)];
  return named.filter(({ id }) => !before.has(id));
}

function withPlaces(member: string, ids: readonly string[]): BroughtTrack[] {
  return ids.map((id, index) => ({ id, place: `${member}[${index}]` }));
}

/** Of one refusal. */
const ISSUES_MAX = 20;

/**
 * A playlist takes what its owner may play: public tracks, and the owner's own. What is not there and what is another's
 * own are refused alike.
 *
 * @param tracks those of `brought` that there are
 * @throws {InputRefusedError} naming the ids
 */
export function checkHeld(
  brought: readonly BroughtTrack[],
  tracks: ReadonlyMap<string, Track>,
  ownerId: AccountId | null,
): void {
  const lacking = brought
    .filter(({ id }) => {
      const track = tracks.get(id);
      return track === undefined || !maySee(track, ownerId);
    })
    .slice(0, ISSUES_MAX);
  if (lacking.length === 0) return;
  const whose = ownerId === null ? "public track" : `track that ${ownerId} may play`;
  const message = lacking.map(({ id }) => `There is no ${whose} ${id}.`).join("\n");
  const allowed = "must be the id of a track that the account may play";
  throw new InputRefusedError(
    message,
    lacking.map(({ place }) => issueOf(place, allowed)),
  );
}

function refused(message: string, member: string, issue: string): InputRefusedError {
  return new InputRefusedError(message, [issueOf(member, issue)]);
}

function issueOf(member: string, message: string): RequestIssue {
  return { path: `body.${member}`, message };
}
