import { checkIsOpen } from "../accounts/closed-account.js";
import type { Account } from "../ports/account.js";
import type { Tiers } from "../accounts/tiers.js";
import type { AuditEntry } from "../ports/audit-record.js";
import type { Alongside } from "../audit/audit-trail.js";
import { InvalidRequestError, UnknownObjectError, PayloadTooLargeError, ServiceUnavailableError } from "../errors.js";
import { isId } from "../ids.js";
import type { AccountStore } from "../ports/account-store.js";
import { AudioUnreadableError } from "../ports/audio-analyser.js";
import { type AudioStore, AudioTooLargeError } from "../ports/audio-store.js";
import type { Clock } from "../ports/clock.js";
import type { IdGenerator } from "../ports/id-generator.js";
import { HEAD_BYTES } from "../ports/import-files.js";
import type { LedgerStore } from "../ports/ledger-store.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { Logger } from "../ports/logger.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import type { Upload, UploadStore } from "../ports/upload-store.js";
import { withoutControls } from "../printable.js";
import { AUDIO_TYPES, type AudioEnding, audioTypeOf, otherFormatOf } from "./audio-type.js";
import { openSource } from "./byte-source.js";
import type { DeriveAssets } from "./derive-assets.js";
import { titleIssue } from "./playlist-rules.js";
import type { Track, TrackAsset } from "./track.js";

export interface TrackUpload {
  /** Who the track is to belong to. */
  readonly accountId: string;
  /** The file, read once. What it is shows in its bytes. */
  readonly audio: Uint8Array | AsyncIterable<Uint8Array>;
  /** Upper bound of the file's size where it is known before the file is read. */
  readonly sizeBytes?: number | null;
  /** 1 to 200 characters; called once the file was read to its end. Without one the track is "Untitled". */
  readonly title?: string | null | (() => string | null);
}

export interface UploadLimits {
  /** Of one file. */
  readonly maxBytes: number;
  readonly maxSeconds: number;
}

export interface UploadTrackDeps {
  readonly accounts: Pick<AccountStore, "findAccounts">;
  readonly tiers: Tiers;
  readonly ledger: Pick<LedgerStore, "lockBalances">;
  readonly uploads: UploadStore;
  readonly library: Pick<LibraryStore, "insertTracks" | "findTracks">;
  readonly audio: Pick<AudioStore, "put" | "deleteAll">;
  readonly derived: Pick<DeriveAssets, "deriveOfReadable" | "deriveFor">;
  readonly unitOfWork: Pick<UnitOfWork, "inTransaction">;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly logger: Logger;
  /** Records the upload in the transaction that makes the track; null where the account itself uploads. */
  readonly record: ((describe: (track: Track) => AuditEntry) => Alongside<Track>) | null;
  /** False where audio is not decoded: a file is then known by its first bytes alone. */
  readonly decodes: boolean;
  readonly limits: UploadLimits;
}

/** An upload that takes longer is given up: its files may be collected by then. */
const UPLOAD_MAX_MS = 3_600_000;

const ARTIST_LABEL = "Upload";

/** What is taken where audio is decoded, and where it is not. */
const DECODED_TYPES = "MP3, WAV, FLAC, Ogg Vorbis or Ogg Opus";
const KNOWN_TYPES = "MP3, WAV, FLAC, Ogg or M4A";

/** Makes private tracks of files that accounts bring. */
export class UploadTrack {
  constructor(private readonly deps: UploadTrackDeps) {}

  /**
   * Stores a file as a private track of an account, with length, waveform, preview and cover. The quota of the
   * account's tier holds for all of its uploads together, also for those under way.
   *
   * @throws {InvalidRequestError} the file holds no audio that can be decoded, is too long, the title cannot be, or the
   *   quota is used up
   * @throws {PayloadTooLargeError} the file is larger than one may be
   * @throws {OperationRefusedError} no such account
   * @throws {AccountSuspendedError}
   * @throws {ServiceUnavailableError}
   * @throws the error of the source; after each of these nothing is stored
   */
  async execute({ accountId, audio, sizeBytes = null, title = null }: TrackUpload): Promise<Track> {
    const account = await this.accountOf(accountId);
    if (typeof title === "string") checkTitle(title);
    const begun = await this.begin(account, audio instanceof Uint8Array ? audio.length : sizeBytes);
    try {
      const { mix, track: bare } = await this.store(begun, audio);
      const given = typeof title === "function" ? title() : title;
      if (given !== null) checkTitle(given);
      const track = await this.derive({ ...bare, title: withoutControls(given ?? "") || "Untitled" }, mix);
      await this.finish(begun.upload, track, mix.sizeBytes);
      return track;
    } catch (error) {
      // The reply to a commit may be lost although it was done. While that is unknown, the files stay.
      const found = await this.find(begun.upload).catch(() => null);
      if (found === undefined) await this.discard(begun.upload);
      if (found) return found;
      throw error;
    }
  }

  private async accountOf(id: string): Promise<Account> {
    const account = isId("acct", id) ? (await this.deps.accounts.findAccounts([id])).get(id) : undefined;
    if (account === undefined) throw new UnknownObjectError(`There is no account ${id}.`);
    checkIsOpen(account);
    return account;
  }

  /** Takes what the file may need out of the quota, so that of several uploads at once none goes beyond it. */
  private async begin(account: Account, declaredBytes: number | null): Promise<BegunUpload> {
    const { clock, ids, ledger, limits, tiers, unitOfWork, uploads } = this.deps;
    const { maxTracks, maxBytes } = tiers.of(account.tier).uploads;
    const trackId = ids.next("trk");
    const createdAt = clock.now();
    const tooLarge = (left: number): Error =>
      left < limits.maxBytes ? bytesUsedUp(maxBytes) : new PayloadTooLargeError(limits.maxBytes);
    return unitOfWork.inTransaction(async (tx, { isRetry }) => {
      await ledger.lockBalances(tx, [account.id]);
      if (isRetry) await uploads.deleteUnstored(tx, trackId);
      const used = await uploads.usageOf(tx, account.id, createdAt - UPLOAD_MAX_MS);
      const left = maxBytes - used.bytes;
      if (used.tracks >= maxTracks) throw overQuota(`the account's tier allows ${maxTracks} uploaded tracks`);
      if (left <= 0) throw bytesUsedUp(maxBytes);
      const sizeBytes = Math.min(limits.maxBytes, left, declaredBytes ?? limits.maxBytes);
      const upload: Upload = { trackId, accountId: account.id, sizeBytes, createdAt, storedAt: null };
      await uploads.insertUpload(tx, upload);
      return { upload, tooLarge: tooLarge(left) };
    });
  }

  private async store(
    { upload: { trackId, accountId, sizeBytes: maxBytes, createdAt }, tooLarge }: BegunUpload,
    given: TrackUpload["audio"],
  ): Promise<{ readonly mix: TrackAsset; readonly track: Track }> {
    const source = await openSource(given, HEAD_BYTES);
    try {
      const type = audioTypeOf(source.head);
      if (type === null) throw notAudio(this.deps.decodes, otherFormatOf(source.head));
      const audioKey = `${trackId}/mix.${type}`;
      const { sizeBytes } = await this.deps.audio.put(audioKey, source.bytes(), maxBytes);
      const mix = mixOf(audioKey, type, sizeBytes);
      return { mix, track: { ...NOTHING_KNOWN, id: trackId, accountId, title: "", assets: [mix], createdAt } };
    } catch (error) {
      throw error instanceof AudioTooLargeError ? tooLarge : error;
    } finally {
      await source.close();
    }
  }

  private async derive(track: Track, mix: TrackAsset): Promise<Track> {
    const { decodes, derived, limits, logger } = this.deps;
    if (!decodes) return derived.deriveFor(track);
    try {
      const complete = await derived.deriveOfReadable(track, mix);
      if (complete === null) throw notAudio(decodes, mix.contentType === AUDIO_TYPES.m4a ? "M4A/MP4" : null);
      const seconds = complete.assets.find(({ role }) => role === "mix")?.durationSeconds ?? 0;
      if (seconds <= limits.maxSeconds) return complete;
      throw refused(`must play at most ${limits.maxSeconds} s; it plays ${Math.ceil(seconds)} s`);
    } catch (error) {
      if (error instanceof ServiceUnavailableError)
        logger.warn("An upload cannot be decoded at present", { error, track_id: track.id });
      if (!(error instanceof AudioUnreadableError)) throw error;
      logger.info("An upload could not be decoded", { error, track_id: track.id, account_id: track.accountId });
      throw notAudio(decodes);
    }
  }

  private async finish({ trackId, createdAt }: Upload, track: Track, sizeBytes: number): Promise<void> {
    const { clock, library, record, unitOfWork, uploads } = this.deps;
    const entry = record?.((created) => ({
      action: "library.upload",
      accountId: created.accountId,
      targets: [created.id],
      fields: { bytes: sizeBytes },
    }));
    await unitOfWork.inTransaction(async (tx) => {
      const storedAt = clock.now();
      const isInTime = storedAt - createdAt < UPLOAD_MAX_MS;
      if (!isInTime || !(await uploads.markStored(tx, { trackId, sizeBytes, storedAt }))) {
        throw new ServiceUnavailableError("The upload took too long. Try again.");
      }
      await library.insertTracks(tx, [track]);
      await entry?.(tx, track);
    });
  }

  /** @returns undefined when the upload has not become a track */
  private async find({ trackId }: Upload): Promise<Track | undefined> {
    return (await this.deps.library.findTracks([trackId])).get(trackId);
  }

  /** What cannot be deleted now is collected later: its upload is known, and not stored. */
  private async discard({ trackId }: Upload): Promise<void> {
    const { audio, logger, unitOfWork, uploads } = this.deps;
    try {
      await audio.deleteAll(trackId);
      await unitOfWork.inTransaction((tx) => uploads.deleteUnstored(tx, trackId));
    } catch (error) {
      logger.warn("What is left of an upload could not be deleted", { error, track_id: trackId });
    }
  }
}

interface BegunUpload {
  readonly upload: Upload;
  /** What a file that holds more than its upload may is refused with. */
  readonly tooLarge: Error;
}

const NOTHING_KNOWN = {
  jobId: null,
  position: 0,
  artistLabel: ARTIST_LABEL,
  bpm: null,
  prompt: null,
  visibility: "private",
  tags: { mood: [], activity: [], genre: [], other: [] },
  waveform: null,
  shareToken: null,
  linkGeneration: 0,
  origin: null,
} as const satisfies Partial<Track>;

function mixOf(audioKey: string, type: AudioEnding, sizeBytes: number): TrackAsset {
  return { role: "mix", label: "full", audioKey, contentType: AUDIO_TYPES[type], sizeBytes, durationSeconds: null };
}

function checkTitle(title: string): void {
  const issue = titleIssue(title);
  if (issue !== null) throw new InvalidRequestError([{ path: "body.title", message: issue }]);
}

/** @param format its name, where it is a known one */
function notAudio(decodes: boolean, format: string | null = null): InvalidRequestError {
  const allowed = decodes ? `must be audio that can be decoded: ${DECODED_TYPES}` : `must be audio: ${KNOWN_TYPES}`;
  return refused(format === null ? allowed : `${allowed}; it is ${format}`);
}

function bytesUsedUp(maxBytes: number): InvalidRequestError {
  return overQuota(`the account's tier allows ${maxBytes} bytes of uploads`);
}

function overQuota(message: string): InvalidRequestError {
  return refused(`does not fit: ${message}`);
}

function refused(message: string): InvalidRequestError {
  return new InvalidRequestError([{ path: "body.audio", message }]);
}
