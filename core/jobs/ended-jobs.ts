import { assert } from "../assert.js";
import { isFinal, type Job, type JobKind, type JobOutput } from "./job.js";
import type { Track } from "../library/track.js";
import type { Logger } from "../ports/logger.js";

/** A job that ended, as it was committed. */
export interface JobEnded {
  readonly job: Job;
  /** Empty unless it completed. */
  readonly tracks: readonly Track[];
  /** The files of a split; empty unless it completed. */
  readonly outputs: readonly JobOutput[];
  /** False: no webhook endpoint hears of it. Left out where that is not known. */
  readonly isDelivered?: boolean;
}

export type JobEndedListener = (ended: JobEnded) => void;

export interface EndedJobsDeps {
  readonly logger: Logger;
}

const SUBJECTS = { music: "generation", stem_split: "stem_split", vocal_removal: "vocal_removal" } as const;

/** What webhooks and listeners call the end of a job. @see decisions, "Webhooks" */
export type EndEventType = `${(typeof SUBJECTS)[JobKind]}.${"completed" | "failed"}`;

export function eventTypeOf({ kind, status }: Pick<Job, "kind" | "status">): EndEventType {
  assert(isFinal(status), "the job has ended");
  return `${SUBJECTS[kind]}.${status}`;
}

/** Notifies the core in this process of jobs that ended in it, at once and without a promise that none is missed. */
export class EndedJobs {
  private readonly listeners = new Set<JobEndedListener>();

  constructor(private readonly deps: EndedJobsDeps) {}

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
