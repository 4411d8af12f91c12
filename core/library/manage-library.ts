import { OperationRefusedError, PlaylistNotFoundError, TrackNotFoundError } from "../errors.js";
import { type AccountId, isId, type PlaylistId } from "../ids.js";
import type { AccountStore } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { Random } from "../ports/random.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import type { Playlist } from "./playlist.js";
import { changedTracks, checkHeld, checkPlaylist, type PlaylistChanges, titleMistake } from "./playlist-rules.js";
import type { PlaylistWithTracks } from "./read-library.js";
import { withoutControls } from "../printable.js";
import { newShareToken } from "./share-urls.js";
import type { Track } from "./track.js";

export interface NewPlaylist {
  readonly title: string;
  /** null: it belongs to nobody, and is public. */
  readonly accountId: string | null;
  readonly visibility: Playlist["visibility"];
  /** None by default. */
  readonly tracks?: readonly string[] | undefined;
}

/** Who acts. An operator leaves it out; an embedding app that acts for a user of its own names the account that must be the owner. */
export interface OnBehalf {
  readonly owner?: AccountId | undefined;
}

export interface ManageLibraryPorts {
  readonly unitOfWork: UnitOfWork;
  readonly library: LibraryStore;
  readonly accounts: AccountStore;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly random: Random;
}

/** Playlists and sharing, for operators and embedding apps. What an `owner` does not own is not found. */
export class ManageLibrary {
  constructor(private readonly ports: ManageLibraryPorts) {}

  /** @throws {OperationRefusedError} no such account, a title or a track that cannot be */
  async createPlaylist({ title: given, accountId, visibility, tracks = [] }: NewPlaylist): Promise<Playlist> {
    const { ports } = this;
    const title = titleOf(given);
    const owner = accountId === null ? null : await this.accountOf(accountId);
    checkPlaylist({ title, visibility, accountId: owner });
    const trackIds = changedTracks([], { tracks });
    await this.checkTracks(trackIds, owner);
    const id = ports.ids.next("pls");
    const playlist: Playlist = { id, accountId: owner, title, visibility, trackIds, createdAt: ports.clock.now() };
    let runs = 0;
    await ports.unitOfWork.inTransaction(async (tx) => {
      runs += 1;
      // A run before this one may have been committed although its reply was lost.
      if (runs > 1 && (await ports.library.findPlaylists([id])).has(id)) return;
      await ports.library.insertPlaylists(tx, [playlist]);
    });
    return playlist;
  }

  /** A playlist with all that it holds, whoever may play it. @throws {PlaylistNotFoundError} */
  async playlist(id: string, onBehalf: OnBehalf = {}): Promise<PlaylistWithTracks> {
    const playlist = await this.find(id, onBehalf);
    const tracks = await this.ports.library.findTracks(playlist.trackIds);
    return { playlist, tracks: playlist.trackIds.flatMap((trackId) => tracks.get(trackId) ?? []) };
  }

  /**
   * What a playlist held before stays in it, whoever may play it by now; new tracks are checked.
   *
   * @throws {PlaylistNotFoundError}
   * @throws {OperationRefusedError} what must not be changed so; nothing was
   */
  async editPlaylist(id: string, changes: PlaylistChanges, onBehalf: OnBehalf = {}): Promise<Playlist> {
    const { unitOfWork, library } = this.ports;
    const before = await this.find(id, onBehalf);
    const held = new Set<string>(before.trackIds);
    await this.checkTracks([...(changes.tracks ?? []), ...(changes.add ?? [])].filter((track) => !held.has(track)), before.accountId);
    return unitOfWork.inTransaction(async (tx) => {
      const playlist = await library.lockPlaylist(tx, before.id);
      if (playlist === null) throw new PlaylistNotFoundError();
      const title = changes.title === undefined ? playlist.title : titleOf(changes.title);
      const { visibility = playlist.visibility } = changes;
      const changed = { ...playlist, title, visibility, trackIds: changedTracks(playlist.trackIds, changes) };
      checkPlaylist(changed);
      await library.updatePlaylist(tx, changed);
      return changed;
    });
  }

  /** Its tracks stay in the library. @throws {PlaylistNotFoundError} */
  async deletePlaylist(id: string, onBehalf: OnBehalf = {}): Promise<PlaylistId> {
    const { unitOfWork, library } = this.ports;
    const playlist = await this.find(id, onBehalf);
    await unitOfWork.inTransaction((tx) => library.deletePlaylist(tx, playlist.id));
    return playlist.id;
  }

  /** Opens the public page of a track. Sharing it again keeps its address. @throws {TrackNotFoundError} */
  async share(trackId: string, { owner }: OnBehalf = {}): Promise<Track> {
    const { unitOfWork, library, random } = this.ports;
    const track = await this.track(trackId, owner);
    if (track.shareToken !== null) return track;
    const drawn = newShareToken(random);
    // Whoever shares it at the same time may have been first: theirs is the address then.
    const shareToken = await unitOfWork.inTransaction((tx) => library.shareTrack(tx, track.id, drawn));
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
    const isThere = await this.ports.unitOfWork.inTransaction((tx) => this.ports.library.unshareTrack(tx, track.id));
    if (!isThere) throw new TrackNotFoundError();
    return { ...track, shareToken: null, linkGeneration: track.linkGeneration + 1 };
  }

  private async track(id: string, owner: AccountId | undefined): Promise<Track> {
    const track = isId("trk", id) ? (await this.ports.library.findTracks([id])).get(id) : undefined;
    if (track === undefined || !isOwnedBy(track, owner)) throw new TrackNotFoundError();
    return track;
  }

  private async find(id: string, { owner }: OnBehalf): Promise<Playlist> {
    const playlist = isId("pls", id) ? (await this.ports.library.findPlaylists([id])).get(id) : undefined;
    if (playlist === undefined || !isOwnedBy(playlist, owner)) throw new PlaylistNotFoundError();
    return playlist;
  }

  private async checkTracks(ids: readonly string[], owner: AccountId | null): Promise<void> {
    if (ids.length === 0) return;
    checkHeld(ids, await this.ports.library.findTracks(ids.filter((id) => isId("trk", id))), owner);
  }

  private async accountOf(id: string): Promise<AccountId> {
    if (isId("acct", id) && (await this.ports.accounts.findAccounts([id])).has(id)) return id;
    throw new OperationRefusedError(`There is no account ${id}.`);
  }
}

/** Line breaks and control characters are refused by {@link checkPlaylist}; invisible formatting is left out. */
function titleOf(given: string): string {
  return titleMistake(given) === null ? withoutControls(given) : given;
}

function isOwnedBy(thing: { readonly accountId: AccountId | null }, owner: AccountId | undefined): boolean {
  return owner === undefined || thing.accountId === owner;
}
