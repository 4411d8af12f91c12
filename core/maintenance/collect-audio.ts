import type { JobId, TrackId } from "../ids.js";
import type { AudioStore, ListedAudio } from "../ports/audio-store.js";
import type { Clock } from "../ports/clock.js";
import type { JobStore } from "../ports/job-store.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { Logger } from "../ports/logger.js";
import type { UploadStore } from "../ports/upload-store.js";
import {
  type AudioFate,
  decideCollection,
  jobOfKey,
  type KnownAudio,
  prefixOfKey,
  trackOfKey,
} from "./decide-collection.js";

export interface CollectAudioDeps {
  readonly audio: Pick<AudioStore, "list" | "delete">;
  readonly jobs: Pick<JobStore, "findJobs" | "outputsOf">;
  readonly library: Pick<LibraryStore, "namedAudioKeys">;
  readonly uploads: Pick<UploadStore, "findUploads">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long files that nothing names are kept; at least, and by default, {@link LEFT_ALONE_MS}. */
  readonly keptMs?: number;
}

export interface CollectionOptions {
  /** Finds, and deletes nothing. */
  readonly isDryRun: boolean;
  /** Only files behind this key; null: all. */
  readonly after?: string | null;
  /** At most so many files; left out: all. */
  readonly filesMax?: number;
  readonly signal?: AbortSignal;
}

export interface AudioAmount {
  /** Jobs, or other names before the first `/` of a key. */
  readonly prefixes: number;
  readonly files: number;
  readonly bytes: number;
}

export interface CollectionReport {
  readonly isDryRun: boolean;
  /** Files that were looked at. */
  readonly listed: AudioAmount;
  /** Left behind: no track and no output names them. */
  readonly orphaned: AudioAmount;
  readonly deleted: AudioAmount;
  /** Orphaned ones that could not be deleted; the log says why. */
  readonly failed: AudioAmount;
  /** As orphaned ones, but written so lately that they are left alone for now. */
  readonly recent: AudioAmount;
  /** They belong to no job or upload of this storage, and are left alone. */
  readonly unknown: AudioAmount;
  /** The last key that was looked at, when there may be more behind it; null at the end of the store. */
  readonly next: string | null;
}

/** Files that were written within this time are always left alone: no copy, and no upload, takes so long. */
export const LEFT_ALONE_MS = 3_600_000;
/** Listed at once: a local store reads a whole directory for each page. */
const PAGE_FILES = 10_000;
/** Compared with the storage at once. */
const GROUP_FILES = 500;
/** Deletions under way at once. */
const DELETIONS_MAX = 8;

/**
 * Deletes files of ended jobs and uploads that nothing names: what a worker had stored when it was lost, before another
 * worker, an operator or the deadline ended its job, and what a server had stored of an upload that never became a
 * track. What they name once they ended is final, so that it is enough to read it after the list.
 */
export class CollectAudio {
  constructor(private readonly deps: CollectAudioDeps) {}

  /** @throws {ServiceUnavailableError} the storage or the list is not available; what was deleted by then is gone */
  async collect({ isDryRun, after = null, filesMax = Infinity, signal }: CollectionOptions): Promise<CollectionReport> {
    const { audio, clock, keptMs = LEFT_ALONE_MS } = this.deps;
    const leftAloneMs = Math.max(LEFT_ALONE_MS, keptMs);
    const total = new Totals();
    let next = after;
    for (let left = filesMax; left > 0;) {
      signal?.throwIfAborted();
      const modifiedBefore = clock.now() - leftAloneMs;
      const limit = Math.min(PAGE_FILES, left);
      const files = await raceAbort(audio.list(next, limit), signal);
      for (let start = 0; start < files.length; start += GROUP_FILES) {
        const orphaned = await this.findOrphaned(files.slice(start, start + GROUP_FILES), modifiedBefore, total);
        if (!isDryRun) await this.deleteAll(orphaned, total, signal);
      }
      next = files.length < limit ? null : (files.at(-1)?.key ?? null);
      if (next === null) break;
      left -= files.length;
    }
    return { isDryRun, ...total.amounts, next };
  }

  private async findOrphaned(
    files: readonly ListedAudio[],
    modifiedBefore: number,
    total: Totals,
  ): Promise<ListedAudio[]> {
    const fates = decideCollection(files, await this.knownOf(files), modifiedBefore);
    const having = (fate: AudioFate): ListedAudio[] => files.filter((_file, index) => fates[index] === fate);
    const orphaned = having("orphaned");
    total.listed.add(files);
    total.unknown.add(having("unknown"));
    total.recent.add(having("recent"));
    total.orphaned.add(orphaned);
    return orphaned;
  }

  /** The jobs and uploads first: one that has ended by then has all of its tracks and outputs. */
  private async knownOf(files: readonly ListedAudio[]): Promise<KnownAudio> {
    const { jobs, library, uploads } = this.deps;
    const trackIds = new Set(files.map(({ key }) => trackOfKey(key)).filter((id): id is TrackId => id !== null));
    const knownUploads = await uploads.findUploads([...trackIds]);
    const jobIds = new Set(files.map(({ key }) => jobOfKey(key)).filter((id): id is JobId => id !== null));
    const known = await jobs.findJobs([...jobIds]);
    const outputs = [...(await jobs.outputsOf([...known.keys()])).values()].flat();
    const named = await library.namedAudioKeys(files.map(({ key }) => key));
    const keys = outputs.map(({ audioKey }) => audioKey);
    return { jobs: known, uploads: knownUploads, named: new Set([...named, ...keys]) };
  }

  /** Each is deleted on its own: a failed deletion does not stop the others. */
  private async deleteAll(
    files: readonly ListedAudio[],
    total: Totals,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { audio, logger } = this.deps;
    const failures = new Map<ListedAudio, unknown>();
    const left = files.values();
    const deleteLeft = async (): Promise<void> => {
      for (const file of left) {
        if (signal?.aborted === true) return;
        try {
          await audio.delete(file.key);
        } catch (error) {
          failures.set(file, error);
        }
      }
    };
    await raceAbort(Promise.all(Array.from({ length: DELETIONS_MAX }, deleteLeft)), signal);
    total.deleted.add(files.filter((file) => !failures.has(file)));
    total.failed.add(files.filter((file) => failures.has(file)));
    for (const [file, error] of [...failures].slice(0, 1)) {
      logger.error("Orphaned audio files could not be deleted", {
        error,
        files: failures.size,
        audio_key: file.key,
      });
    }
  }
}

/** Counts files, which come in the order of their keys, and the prefixes that they have together. */
class Tally {
  private prefixes = 0;
  private lastPrefix = "";
  private files = 0;
  private bytes = 0;

  add(files: readonly ListedAudio[]): void {
    for (const { key, sizeBytes } of files) {
      const prefix = prefixOfKey(key);
      if (prefix !== this.lastPrefix) this.prefixes += 1;
      this.lastPrefix = prefix;
      this.files += 1;
      this.bytes += sizeBytes;
    }
  }

  get amount(): AudioAmount {
    return { prefixes: this.prefixes, files: this.files, bytes: this.bytes };
  }
}

class Totals {
  readonly listed = new Tally();
  readonly orphaned = new Tally();
  readonly deleted = new Tally();
  readonly failed = new Tally();
  readonly recent = new Tally();
  readonly unknown = new Tally();

  get amounts(): Omit<CollectionReport, "isDryRun" | "next"> {
    const { listed, orphaned, deleted, failed, recent, unknown } = this;
    return {
      listed: listed.amount,
      orphaned: orphaned.amount,
      deleted: deleted.amount,
      failed: failed.amount,
      recent: recent.amount,
      unknown: unknown.amount,
    };
  }
}

/** @throws the signal's reason as soon as it aborts; what was begun is not waited for then */
async function raceAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  work.catch(() => undefined);
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
