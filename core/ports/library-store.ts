import type { JobId } from "../ids.js";
import type { Track } from "../library/track.js";
import type { Transaction } from "./unit-of-work.js";

/** Tracks with their files and tags. */
export interface LibraryStore {
  insertTracks(tx: Transaction, tracks: readonly Track[]): Promise<void>;
  /** The tracks that these jobs made, in their order; a job without tracks is left out. */
  tracksOfJobs(jobIds: readonly JobId[]): Promise<Map<JobId, Track[]>>;
}
