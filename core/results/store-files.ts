import type { JobId } from "../ids.js";
import type { Job, StoredFiles } from "../jobs/job.js";
import { logIdsOf } from "../jobs/log-ids.js";
import type { Clock } from "../ports/clock.js";
import type { Logger } from "../ports/logger.js";
import type { Completed } from "../ports/music-provider.js";
import type { Random } from "../ports/random.js";
import type { Tracer } from "../ports/tracer.js";
import { isLasting, backoffMs } from "../attempts/retry-policy.js";
import { traced } from "../tracing/traced.js";
import type { StoreTracks } from "./store-tracks.js";

export interface StoreFilesDeps {
  readonly storeTracks: Pick<StoreTracks, "store" | "storeStems" | "discard">;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly tracer: Tracer | null;
}

/** What is stored, and how. */
export interface Delivery {
  /** Of the worker that stores it: no other worker writes to the same keys. */
  readonly fence: number;
  readonly artistLabel: string;
  readonly created: Completed;
  /** True: the files exist only in this process. */
  readonly isOnlyCopy: boolean;
  /** True: it is stored as it came, without preview, cover and waveform of our own. */
  readonly isPlain: boolean;
}

/**
 * When copying a provider's files fails, they are fetched again, never generated again: a few times where a later step
 * can fetch them too.
 */
const STORE_TRIES_MAX = 3;
/** Files that exist only in this process are retried for about ten minutes. */
const STORE_TRIES_OF_THE_ONLY_COPY_MAX = 16;
const STORE_RETRY_MS = 1_000;
/** Folders of workers before that are looked for when a job completes; what older ones left is the collector's. */
const FENCES_BEFORE = 5;

/** The files of a job. */
export class StoreFiles {
  constructor(private readonly deps: StoreFilesDeps) {}

  /** @throws the error of the last attempt; a {@link ProviderFailure} of a lasting kind at once */
  store(job: Job, delivery: Delivery, signal: AbortSignal): Promise<StoredFiles> {
    return traced(
      this.deps.tracer,
      () => ({ name: "store files" }),
      () => this.storeAll(job, delivery, signal),
    );
  }

  private async storeAll(job: Job, delivery: Delivery, signal: AbortSignal): Promise<StoredFiles> {
    const { storeTracks } = this.deps;
    const { created: result, artistLabel, isPlain, fence } = delivery;
    const storedJob = { ...job, fence };
    const retrying = <T>(run: () => Promise<T>): Promise<T> => this.retrying(job, delivery, signal, run);
    if (job.kind === "music") {
      const stored = await retrying(() => storeTracks.store(storedJob, artistLabel, result.tracks, isPlain, signal));
      return { outputs: [], ...stored };
    }
    const outputs = await retrying(() => storeTracks.storeStems(storedJob, result.stems ?? [], signal));
    return { tracks: [], outputs, missing: [] };
  }

  /** Deletes what was stored under one fence. What cannot be deleted stays for the collector of audio files. */
  async discard(jobId: JobId, fence: number): Promise<void> {
    await this.deleting(jobId, () => this.deps.storeTracks.discard(jobId, fence));
  }

  /** Deletes all files of a job; as {@link discard}. */
  async discardAll(jobId: JobId): Promise<void> {
    await this.deleting(jobId, () => this.deps.storeTracks.discard(jobId));
  }

  /** Deletes what the last workers before this fence stored; as {@link discard}. */
  async discardBefore(jobId: JobId, fence: number): Promise<void> {
    for (let before = fence - 1; before > 0 && before >= fence - FENCES_BEFORE; before--)
      await this.discard(jobId, before);
  }

  private async deleting(jobId: JobId, run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      this.deps.logger.warn("Files of a job could not be deleted", { error, job_id: jobId });
    }
  }

  private async retrying<T>(
    job: Job,
    { isOnlyCopy }: Delivery,
    signal: AbortSignal,
    store: () => Promise<T>,
  ): Promise<T> {
    const triesMax = isOnlyCopy ? STORE_TRIES_OF_THE_ONLY_COPY_MAX : STORE_TRIES_MAX;
    const { clock, random, logger } = this.deps;
    for (let tries = 1; ; tries++) {
      try {
        return await store();
      } catch (error) {
        if (isLasting(error) || tries === triesMax || signal.aborted) throw error;
        logger.warn("The audio of a job could not be stored; trying again", { ...logIdsOf(job), error });
        await clock.sleep(backoffMs(STORE_RETRY_MS, tries, random.fraction()), signal);
      }
    }
  }
}
