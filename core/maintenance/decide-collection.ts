import { isId, type JobId, type TrackId } from "../ids.js";
import { isFinal, type Job } from "../jobs/job.js";
import type { ListedAudio } from "../ports/audio-store.js";
import type { Upload } from "../ports/upload-store.js";

/** What the storage knows of the files of one page. */
export interface KnownAudio {
  /** The jobs that the keys begin with; ids that the storage does not know are left out. */
  readonly jobs: ReadonlyMap<JobId, Pick<Job, "status">>;
  /** The uploads that the keys begin with; ids that the storage does not know are left out. */
  readonly uploads: ReadonlyMap<TrackId, Pick<Upload, "createdAt" | "storedAt">>;
  /** The keys that a track or an output of a split names. */
  readonly named: ReadonlySet<string>;
}

/**
 * What is to become of a stored file:
 * - `named`: a track or an output names it
 * - `unknown`: it belongs to no job or upload that this storage knows, but perhaps to another installation or to a
 *   backup
 * - `alive`: its job or upload has not ended, and may name it yet
 * - `recent`: it was written a moment ago, and its writer may still be at work
 * - `orphaned`: left behind by a process that was lost; the only ones that are deleted
 */
export type AudioFate = "named" | "unknown" | "alive" | "recent" | "orphaned";

/** @param modifiedBefore files and uploads that began at this moment or later are left alone */
export function decideCollection(
  files: readonly Pick<ListedAudio, "key" | "modifiedAt">[],
  known: KnownAudio,
  modifiedBefore: number,
): AudioFate[] {
  return files.map(({ key, modifiedAt }) => {
    if (known.named.has(key)) return "named";
    const isOver = isMakerDone(key, known, modifiedBefore);
    if (isOver === null) return "unknown";
    if (!isOver) return "alive";
    return modifiedAt < modifiedBefore ? "orphaned" : "recent";
  });
}

/** Whether the job or upload that the key begins with names no more files; null where there is none. */
function isMakerDone(key: string, { jobs, uploads }: KnownAudio, begunBefore: number): boolean | null {
  const jobId = jobOfKey(key);
  const job = jobId === null ? undefined : jobs.get(jobId);
  if (job !== undefined) return isFinal(job.status);
  const trackId = trackOfKey(key);
  const upload = trackId === null ? undefined : uploads.get(trackId);
  return upload === undefined ? null : upload.storedAt !== null || upload.createdAt < begunBefore;
}

/** Everything that a job or an upload leaves is stored under its id. */
export function prefixOfKey(key: string): string {
  const end = key.indexOf("/");
  return end === -1 ? key : key.slice(0, end);
}

/** null when the key is not one of a job's files, such as that of an imported track. */
export function jobOfKey(key: string): JobId | null {
  const prefix = prefixOfKey(key);
  return prefix.length < key.length && isId("job", prefix) ? prefix : null;
}

/** null when the key is not one of an uploaded or imported track's files. */
export function trackOfKey(key: string): TrackId | null {
  const prefix = prefixOfKey(key);
  return prefix.length < key.length && isId("trk", prefix) ? prefix : null;
}
