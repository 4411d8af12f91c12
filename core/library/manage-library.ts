import type { AuditAction, AuditEntry, AuditFields } from "../ports/audit-record.js";
import type { RecordsActions } from "../audit/audit-trail.js";
import { UnknownObjectError, PlaylistNotFoundError, TrackNotFoundError } from "../errors.js";
import { type AccountId, isId, type PlaylistId, type TrackId } from "../ids.js";
import type { AccountStore } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { LedgerStore } from "../ports/ledger-store.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { Random } from "../ports/random.js";
import type { Transaction, TransactionWork } from "../ports/unit-of-work.js";
import type { DeleteFiles } from "./delete-files.js";
import { deleteTrack, type DeleteTrackDeps } from "./delete-track.js";
import type { TrackWithLyrics } from "./lyrics.js";
import type { Playlist } from "./playlist.js";
import {
  type BroughtTrack,
  broughtTracks,
  changedTracks,
  checkHeld,
  checkPlaylist,
  checkPlaylistCount,
  type PlaylistChanges,
  titleIssue,
} from "./playlist-rules.js";
import type { PlaylistWithTracks } from "./read-library.js";
import { withoutControls } from "../printable.js";
import { newShareToken } from "./share-urls.js";
import type { Track } from "./track.js";

export interface NewPlaylist {
  readonly title: string;
  /** null: it has no owner, and is public. */
  readonly accountId: string | null;
  readonly visibility: Playlist["visibility"];
  /** None by default. */
  readonly tracks?: readonly string[] | undefined;
}

/**
 * Who acts. An operator leaves it out; an embedding app that acts for a user of its own names the account that must be
 * the owner.
 */
export interface OnBehalf {
  readonly owner?: AccountId | undefined;
}

interface EditedPlaylist {
  readonly changed: Playlist;
  readonly isRetitled: boolean;
}

export interface ManageLibraryDeps extends DeleteTrackDeps {
  readonly audit: RecordsActions;
  readonly library: LibraryStore;
  readonly ledger: Pick<LedgerStore, "lockBalances">;
  readonly deletedFiles: DeleteFiles;
  readonly accounts: AccountStore;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly random: Random;
}

/**
 * Playlists, sharing and the deletion of tracks, for operators and embedding apps. What an `owner` does not own is not
 * found.
 */
export class ManageLibrary {
  constructor(private readonly deps: ManageLibraryDeps) {}

  /** @throws {OperationRefusedError} no such account, a title or a track that cannot be, too many playlists */
  async createPlaylist({ title: given, accountId, visibility, tracks = [] }: NewPlaylist): Promise<Playlist> {
    const { deps } = this;
    const title = titleOf(given);
    const owner = accountId === null ? null : await this.accountOf(accountId);
    checkPlaylist({ title, visibility, accountId: owner });
    const trackIds = changedTracks([], { tracks });
    await this.checkTracks(broughtTracks([], { tracks }), owner);
    const id = deps.ids.next("pls");
    const playlist: Playlist = { id, accountId: owner, title, visibility, trackIds, createdAt: deps.clock.now() };
    const insert: TransactionWork<void> = async (tx, { isRetry }) => {
      if (isRetry && (await deps.library.findPlaylists([id])).has(id)) return;
      if (owner !== null) {
        await deps.ledger.lockBalances(tx, [owner]);
        checkPlaylistCount(await deps.library.countPlaylists(tx, owner));
      }
      await deps.library.insertPlaylists(tx, [playlist]);
    };
    const fields = { visibility, tracks: trackIds.length };
    await deps.audit.inTransaction(insert, () => entryOf("playlists.create", playlist, fields));
    return playlist;
  }

  /** A playlist with all its tracks, regardless of who may play them. @throws {PlaylistNotFoundError} */
  async playlist(id: string, onBehalf: OnBehalf = {}): Promise<PlaylistWithTracks> {
    const playlist = await this.find(id, onBehalf);
    const tracks = await this.deps.library.findTracks(playlist.trackIds);
    return { playlist, tracks: playlist.trackIds.flatMap((trackId) => tracks.get(trackId) ?? []) };
  }

  /**
   * The tracks of a playlist stay in it, even where its owner may no longer play them; new tracks are checked.
   *
   * @throws {PlaylistNotFoundError}
   * @throws {OperationRefusedError} what must not be changed so; nothing was
   */
  async editPlaylist(id: string, changes: PlaylistChanges, onBehalf: OnBehalf = {}): Promise<Playlist> {
    const { audit, library } = this.deps;
    const before = await this.find(id, onBehalf);
    // What cannot be in any case is not looked up.
    changedTracks(before.trackIds, changes);
    await this.checkTracks(broughtTracks(before.trackIds, changes), before.accountId);
    const edit = async (tx: Transaction): Promise<EditedPlaylist> => {
      const playlist = await library.lockPlaylist(tx, before.id);
      if (playlist === null) throw new PlaylistNotFoundError();
      const title = changes.title === undefined ? playlist.title : titleOf(changes.title);
      const { visibility = playlist.visibility } = changes;
      const changed = { ...playlist, title, visibility, trackIds: changedTracks(playlist.trackIds, changes) };
      checkPlaylist(changed);
      await library.updatePlaylist(tx, changed);
      return { changed, isRetitled: title !== playlist.title };
    };
    const { changed: edited } = await audit.inTransaction(edit, ({ changed, isRetitled }) =>
      entryOf("playlists.edit", changed, {
        title_changed: isRetitled,
        visibility: changed.visibility,
        tracks: changed.trackIds.length,
      }),
    );
    return edited;
  }

  /** Its tracks stay in the library. @throws {PlaylistNotFoundError} */
  async deletePlaylist(id: string, onBehalf: OnBehalf = {}): Promise<PlaylistId> {
    const { audit, library } = this.deps;
    const playlist = await this.find(id, onBehalf);
    await audit.inTransaction(
      (tx) => library.deletePlaylist(tx, playlist.id),
      () => entryOf("playlists.delete", playlist, { tracks: playlist.trackIds.length }),
    );
    return playlist.id;
  }

  /** A track and its lyrics, regardless of who may play it. @throws {TrackNotFoundError} */
  async trackWithLyrics(id: string, { owner }: OnBehalf = {}): Promise<TrackWithLyrics> {
    const track = await this.track(id, owner);
    return { track, lyrics: await this.deps.library.findLyrics(track.id) };
  }

  /** Opens the public page of a track. Sharing it again keeps its address. @throws {TrackNotFoundError} */
  async share(trackId: string, { owner }: OnBehalf = {}): Promise<Track> {
    const { audit, library, random } = this.deps;
    const track = await this.track(trackId, owner);
    if (track.shareToken !== null) return track;
    const drawn = newShareToken(random);
    // Another process may have shared it at the same moment: its address holds then.
    const shareToken = await audit.inTransaction(
      (tx) => library.shareTrack(tx, track.id, drawn),
      // The token is what opens the page: it is not recorded.
      (token) => (token === null ? null : entryOf("library.share", track)),
    );
    if (shareToken === null) throw new TrackNotFoundError();
    return { ...track, shareToken };
  }

  /**
   * Closes the page at once and for good: sharing again gives another address. Signed links to the track's files that
   * were given out before end at once too.
   *
   * @throws {TrackNotFoundError}
   */
  async unshare(trackId: string, { owner }: OnBehalf = {}): Promise<Track> {
    const track = await this.track(trackId, owner);
    if (track.shareToken === null) return track;
    const { audit, library } = this.deps;
    const isThere = await audit.inTransaction(
      (tx) => library.unshareTrack(tx, track.id),
      (found) => (found ? entryOf("library.unshare", track) : null),
    );
    if (!isThere) throw new TrackNotFoundError();
    return { ...track, shareToken: null, linkGeneration: track.linkGeneration + 1 };
  }

  /**
   * Deletes a track for good: its files, its lyrics, every word of it, its places in playlists, and the stems that its
   * account had it split into. Links that were given out end at once. Jobs and ledger entries stay.
   *
   * @throws {TrackNotFoundError}
   * @throws {OperationRefusedError} a job works from it; nothing was deleted
   */
  async deleteTrack(trackId: string, { owner }: OnBehalf = {}): Promise<TrackId> {
    const { audit, deletedFiles } = this.deps;
    const track = await this.track(trackId, owner);
    let files: readonly string[] = [];
    const work: TransactionWork<void> = async (tx, { isRetry }) => {
      // The reply to a commit may be lost although it was done.
      if (isRetry && (await this.deps.library.lockTrack(tx, track.id)) === null) return;
      files = await deleteTrack(this.deps, tx, track);
    };
    await audit.inTransaction(work, () => entryOf("library.delete", track, { files: files.length }));
    await deletedFiles.deleteNoted(files);
    return track.id;
  }

  private async track(id: string, owner: AccountId | undefined): Promise<Track> {
    const track = isId("trk", id) ? (await this.deps.library.findTracks([id])).get(id) : undefined;
    if (track === undefined || !isOwnedBy(track, owner)) throw new TrackNotFoundError();
    return track;
  }

  private async find(id: string, { owner }: OnBehalf): Promise<Playlist> {
    const playlist = isId("pls", id) ? (await this.deps.library.findPlaylists([id])).get(id) : undefined;
    if (playlist === undefined || !isOwnedBy(playlist, owner)) throw new PlaylistNotFoundError();
    return playlist;
  }

  private async checkTracks(brought: readonly BroughtTrack[], owner: AccountId | null): Promise<void> {
    if (brought.length === 0) return;
    const ids = brought.map(({ id }) => id).filter((id) => isId("trk", id));
    checkHeld(brought, await this.deps.library.findTracks(ids), owner);
  }

  private async accountOf(id: string): Promise<AccountId> {
    const account = isId("acct", id) ? (await this.deps.accounts.findAccounts([id])).get(id) : undefined;
    if (account !== undefined && account.deletedAt === null) return account.id;
    throw new UnknownObjectError(`There is no account ${id}.`);
  }
}

/** Line breaks and control characters are refused by {@link checkPlaylist}; invisible formatting is left out. */
function titleOf(given: string): string {
  return titleIssue(given) === null ? withoutControls(given) : given;
}

function isOwnedBy(thing: { readonly accountId: AccountId | null }, owner: AccountId | undefined): boolean {
  return owner === undefined || thing.accountId === owner;
}

function entryOf(
  action: AuditAction,
  { id, accountId }: Pick<Playlist | Track, "id" | "accountId">,
  fields: AuditFields = {},
): AuditEntry {
  return { action, accountId, targets: [id], fields };
}
