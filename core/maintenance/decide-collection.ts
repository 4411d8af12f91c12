import { isId, type JobId } from "../ids.js";
import { isFinal, type Job } from "../jobs/job.js";
import type { ListedAudio } from "../ports/audio-store.js";

/** What the storage knows of the files of one page. */
export interface KnownAudio {
  /** The jobs that the keys begin with; ids that the storage does not know are left out. */
  readonly jobs: ReadonlyMap<JobId, Pick<Job, "status">>;
  /** The keys that a track or an output of a split names. */
  readonly named: ReadonlySet<string>;
}

/**
 * What is to become of a stored file:
 * - `named`: a track or an output names it
 * - `unknown`: it belongs to no job that this storage knows, but perhaps to another installation or to a backup
 * - `alive`: its job has not ended, and may name it yet
 * - `recent`: it was written a moment ago, and whoever writes it may be at work yet
 * - `orphaned`: left behind by a worker that was lost; the only ones that are deleted
 */
export type AudioFate = "named" | "unknown" | "alive" | "recent" | "orphaned";

/** @param modifiedBefore files that were written at this moment or later are left alone */
export function decideCollection(
  files: readonly Pick<ListedAudio, "key" | "modifiedAt">[],
  { jobs, named }: KnownAudio,
  modifiedBefore: number,
): AudioFate[] {
  return files.map(({ key, modifiedAt }) => {
    if (named.has(key)) return "named";
    const jobId = jobOfKey(key);
    const job = jobId === null ? undefined : jobs.get(jobId);
    if (job === undefined) return "unknown";
    if (!isFinal(job.status)) return "alive";
    return modifiedAt < modifiedBefore ? "orphaned" : "recent";
  });
}

/** Everything that a job leaves is stored under its id. */
export function prefixOfKey(key: string): string {
  const end = key.indexOf("/");
  return end === -1 ? key : key.slice(0, end);
}

/** null when the key is not one of a job's files, such as that of an imported track. */
export function jobOfKey(key: string): JobId | null {
  const prefix = prefixOfKey(key);
  return prefix.length < key.length && isId("job", prefix) ? prefix : null;
}
