import type { Job, JobOutput } from "./job.js";
import type { Track } from "../library/track.js";
import type { Logger } from "../ports/logger.js";

/** A job that ended, as it was committed. */
export interface JobEnded {
  readonly job: Job;
  /** Empty unless it completed. */
  readonly tracks: readonly Track[];
  /** The files of a split; empty unless it completed. */
  readonly outputs: readonly JobOutput[];
}

export type JobEndedListener = (ended: JobEnded) => void;

export interface JobEventsDeps {
  readonly logger: Logger;
}

/** Notifies listeners in this process of jobs that ended in it. Other processes read the storage. */
export class JobEvents {
  private readonly listeners = new Set<JobEndedListener>();

  constructor(private readonly deps: JobEventsDeps) {}

  /** @returns a function that takes the listener off again */
  onEnded(listener: JobEndedListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  emitEnded(ended: JobEnded): void {
    for (const listener of [...this.listeners]) {
      try {
        listener(ended);
      } catch (error) {
        this.deps.logger.error("A listener of ended jobs failed", { error, job_id: ended.job.id });
      }
    }
  }
}
