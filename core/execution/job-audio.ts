import type { Clock } from "../ports/clock.js";
import type { Logger } from "../ports/logger.js";
import type { ProviderAsset, ProviderTrack } from "../ports/music-provider.js";
import type { Random } from "../ports/random.js";
import { isLasting } from "./lasting-failure.js";
import type { Job, JobOutput } from "../jobs/job.js";
import { backoffMs } from "./retry-policy.js";
import type { StoredTracks, StoreTracks } from "./store-tracks.js";

export interface JobAudioParts {
  readonly storeTracks: StoreTracks;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** What a provider made is fetched and stored again, never made again, when its copying fails: a few times where it can be had later, too. */
const STORE_TRIES_MAX = 3;
/** What is nowhere but in this process is tried for about ten minutes. */
const STORE_TRIES_OF_THE_ONLY_COPY_MAX = 16;
const STORE_RETRY_MS = 1_000;

/** The files of a claimed job. */
export class JobAudio {
  constructor(
    private readonly parts: JobAudioParts,
    private readonly job: Job,
    private readonly signal: AbortSignal,
  ) {}

  /** @throws what the last try failed with; a {@link ProviderFailure} of a lasting kind at once */
  storeTracks(artistLabel: string, made: readonly ProviderTrack[], canBeHadAgain: boolean): Promise<StoredTracks> {
    return this.tryAgain(canBeHadAgain, () => this.parts.storeTracks.store(this.job, artistLabel, made, this.signal));
  }

  /** As {@link storeTracks}. */
  storeStems(stems: readonly ProviderAsset[], canBeHadAgain: boolean): Promise<JobOutput[]> {
    return this.tryAgain(canBeHadAgain, () => this.parts.storeTracks.storeStems(this.job, stems, this.signal));
  }

  /** Throws away what was stored for the job, or only what was stored under one fence. What cannot be deleted stays, with a warning. */
  async discard(fence?: number): Promise<void> {
    try {
      await this.parts.storeTracks.discard(this.job, fence);
    } catch (error) {
      this.parts.logger.warn("Files of a job could not be deleted", { error, job_id: this.job.id });
    }
  }

  private async tryAgain<T>(canBeHadAgain: boolean, store: () => Promise<T>): Promise<T> {
    const triesMax = canBeHadAgain ? STORE_TRIES_MAX : STORE_TRIES_OF_THE_ONLY_COPY_MAX;
    const { clock, random, logger } = this.parts;
    for (let tries = 1; ; tries++) {
      try {
        return await store();
      } catch (error) {
        if (isLasting(error) || tries === triesMax || this.signal.aborted) throw error;
        logger.warn("The audio of a job could not be stored; trying again", { error, job_id: this.job.id });
        await clock.sleep(backoffMs(STORE_RETRY_MS, tries, random.fraction()), this.signal);
      }
    }
  }
}
