import { OperationRefusedError } from "../errors.js";
import { type AccountId, isId, type PlaylistId, type TrackId } from "../ids.js";
import type { AccountStore } from "../ports/account-store.js";
import { type AudioStore, AudioTooLargeError } from "../ports/audio-store.js";
import type { Clock } from "../ports/clock.js";
import type { IdGenerator } from "../ports/id-generator.js";
import { ImportFileError, type ImportFiles } from "../ports/import-files.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { Logger } from "../ports/logger.js";
import type { RecordsActions } from "../audit/audit-trail.js";
import type { TransactionWork } from "../ports/unit-of-work.js";
import { AUDIO_TYPES, audioEndingOf } from "./audio-type.js";
import type { DeriveAssets } from "./derive-assets.js";
import { type ImportDocument, type ImportItem, type ImportTrack, readImportDocument } from "./import-document.js";
import { audioFileIssue, checkImport } from "./import-rules.js";
import { type ImportIssue, Issues } from "./members-reader.js";
import type { Playlist } from "./playlist.js";
import type { Track, TrackAsset } from "./track.js";
import { withoutControls } from "../printable.js";

/** The ids that the items of an import got, in its order. */
export interface ImportedLibrary {
  readonly tracks: readonly { readonly ref: string; readonly id: TrackId }[];
  readonly playlists: readonly { readonly ref: string; readonly id: PlaylistId }[];
}

/** Nothing was imported. */
export class ImportRefusedError extends OperationRefusedError {
  constructor(readonly issues: readonly ImportIssue[]) {
    const count = `${issues.length} issue${issues.length === 1 ? "" : "s"}`;
    super([`The import has ${count}; nothing was imported.`, ...issues.map(lineOf)].join("\n"));
  }
}

export interface ImportLibraryDeps {
  readonly audit: RecordsActions;
  readonly library: LibraryStore;
  readonly accounts: AccountStore;
  readonly audio: AudioStore;
  readonly derived: Pick<DeriveAssets, "deriveFor">;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly logger: Logger;
  /** Of one file. */
  readonly maxBytes: number;
}

/** Rows that go to the storage at once; all within one transaction. */
const BATCH = 500;

/** Brings tracks and playlists in from elsewhere: all of them or none. */
export class ImportLibrary {
  constructor(private readonly deps: ImportLibraryDeps) {}

  /**
   * Creates new tracks and playlists, also of records that were imported before. Files are stored first, and thrown
   * away when the rest fails.
   *
   * @param value as `library import` takes it from its file
   * @param files null: no track may name one
   * @throws {ImportRefusedError} with every issue
   * @see decisions, "How it is started and operated" (`library import`)
   */
  async execute(value: unknown, files: ImportFiles | null): Promise<ImportedLibrary> {
    const issues = new Issues();
    const document = readImportDocument(value, issues);
    checkImport(document, await this.accountsOf(document), issues);
    for (const track of document.tracks) await this.checkFile(track, files, issues);
    if (issues.found.length > 0) throw new ImportRefusedError(issues.found);

    const { tracks, playlists } = this.build(document);
    try {
      for (const [index, { audioFile, path }] of document.tracks.entries()) {
        const track = tracks[index];
        if (audioFile === null || files === null || track === undefined) continue;
        tracks[index] = await this.withAudio(track, audioFile, path, files);
      }
      await this.insert(tracks, playlists);
    } catch (error) {
      // The reply to a commit may be lost although it was done. While that is unknown, the files must stay.
      const isThere = await this.isThere(tracks, playlists).catch(() => null);
      if (isThere === false) await this.discard(tracks);
      if (isThere !== true) throw error;
    }
    return { tracks: document.tracks.map(withId(tracks)), playlists: document.playlists.map(withId(playlists)) };
  }

  private async accountsOf({ tracks, playlists }: ImportDocument): Promise<Set<string>> {
    const named = new Set([...tracks, ...playlists].map(({ accountId }) => accountId));
    const ids = [...named].filter((id): id is AccountId => id !== null && isId("acct", id));
    const found = ids.length === 0 ? [] : [...(await this.deps.accounts.findAccounts(ids)).values()];
    return new Set(found.filter(({ deletedAt }) => deletedAt === null).map(({ id }) => id));
  }

  private async checkFile({ audioFile, path }: ImportTrack, files: ImportFiles | null, issues: Issues): Promise<void> {
    if (audioFile === null) return;
    const issue = files === null ? "there is no folder to take it from" : await this.issueOf(audioFile, files);
    if (issue !== null) issues.add(`${path}.audio_file`, issue);
  }

  private async issueOf(audioFile: string, files: ImportFiles): Promise<string | null> {
    try {
      return audioFileIssue(audioFile, await files.open(audioFile), this.deps.maxBytes);
    } catch (error) {
      if (error instanceof ImportFileError) return error.message;
      throw error;
    }
  }

  private build({ tracks, playlists }: ImportDocument): {
    readonly tracks: Track[];
    readonly playlists: readonly Playlist[];
  } {
    const { ids, clock } = this.deps;
    const createdAt = clock.now();
    const built = tracks.map((track) => toTrack(track, ids.next("trk"), createdAt));
    const idByRef = new Map(tracks.map(({ ref }, index) => [ref, (built[index] as Track).id]));
    return {
      tracks: built,
      playlists: playlists.map((playlist) => ({
        ...ownerAndTitle(playlist),
        id: ids.next("pls"),
        trackIds: playlist.tracks.flatMap(({ text }) => idByRef.get(text) ?? []),
        createdAt,
      })),
    };
  }

  /** A file that changed since it was looked at is refused like one that was wrong at once. */
  private async withAudio(track: Track, audioFile: string, path: string, files: ImportFiles): Promise<Track> {
    const { audio, derived, maxBytes } = this.deps;
    try {
      const file = await files.open(audioFile);
      const ending = audioEndingOf(audioFile);
      const issue = audioFileIssue(audioFile, file, maxBytes);
      if (issue !== null || ending === null) throw new ImportFileError(issue ?? "is of no known type");
      const audioKey = `${track.id}/mix.${ending}`;
      const { sizeBytes } = await audio.put(audioKey, file.read(), maxBytes);
      const mix: TrackAsset = {
        role: "mix",
        label: "full",
        audioKey,
        contentType: AUDIO_TYPES[ending],
        sizeBytes,
        durationSeconds: null,
      };
      return await derived.deriveFor({ ...track, assets: [mix] });
    } catch (error) {
      if (!(error instanceof ImportFileError || error instanceof AudioTooLargeError)) throw error;
      throw new ImportRefusedError([{ path: `${path}.audio_file`, message: error.message }]);
    }
  }

  private async insert(tracks: readonly Track[], playlists: readonly Playlist[]): Promise<void> {
    const { audit, library } = this.deps;
    const insert: TransactionWork<void> = async (tx, { isRetry }) => {
      if (isRetry && (await this.isThere(tracks, playlists))) return;
      for (const batch of batchesOf(tracks)) await library.insertTracks(tx, batch);
      for (const batch of batchesOf(playlists)) await library.insertPlaylists(tx, batch);
    };
    // One import may bring a million tracks: the first and the last of each kind name the rest between them.
    const ends = [tracks[0], tracks.at(-1), playlists[0], playlists.at(-1)].flatMap((one) => one?.id ?? []);
    const fields = { tracks: tracks.length, playlists: playlists.length };
    await audit.inTransaction(insert, () => ({
      action: "library.import",
      accountId: null,
      targets: [...new Set(ends)],
      fields,
    }));
  }

  /** All were written or none was, so looking at one is enough. */
  private async isThere([track]: readonly Track[], [playlist]: readonly Playlist[]): Promise<boolean> {
    const { library } = this.deps;
    if (track !== undefined) return (await library.findTracks([track.id])).has(track.id);
    return playlist !== undefined && (await library.findPlaylists([playlist.id])).has(playlist.id);
  }

  /** Files that nothing knows of do no harm, so that what cannot be deleted stays, with a warning. */
  private async discard(tracks: readonly Track[]): Promise<void> {
    const { audio, logger } = this.deps;
    for (const { id } of tracks) {
      try {
        await audio.deleteAll(id);
      } catch (error) {
        logger.warn("Files of an import could not be deleted", { error, track_id: id });
      }
    }
  }
}

function toTrack(track: ImportTrack, id: TrackId, createdAt: number): Track {
  const { artistLabel, bpm, prompt, tags } = track;
  return {
    ...ownerAndTitle(track),
    id,
    jobId: null,
    position: 0,
    artistLabel: withoutControls(artistLabel),
    bpm,
    prompt,
    tags,
    assets: [],
    waveform: null,
    shareToken: null,
    linkGeneration: 0,
    origin: null,
    createdAt,
  };
}

function ownerAndTitle({
  accountId,
  visibility,
  title,
}: ImportItem): Pick<Track, "accountId" | "visibility" | "title"> {
  return { accountId: accountId as AccountId | null, visibility, title: withoutControls(title) || "Untitled" };
}

function withId<Id>(
  items: readonly { readonly id: Id }[],
): (item: ImportItem, index: number) => { readonly ref: string; readonly id: Id } {
  return ({ ref }, index) => ({ ref, id: (items[index] as { readonly id: Id }).id });
}

function* batchesOf<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += BATCH) yield items.slice(start, start + BATCH);
}

function lineOf({ path, message }: ImportIssue): string {
  return path === "" ? message : `${path}: ${message}`;
}
