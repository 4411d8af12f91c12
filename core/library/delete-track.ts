import { InputRefusedError, TrackNotFoundError } from "../errors.js";
import type { TrackId } from "../ids.js";
import type { Clock } from "../ports/clock.js";
import type { ErasureStore } from "../ports/erasure-store.js";
import type { JobStore } from "../ports/job-store.js";
import type { LedgerStore } from "../ports/ledger-store.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { Transaction } from "../ports/unit-of-work.js";
import type { DeleteFiles } from "./delete-files.js";
import type { Track } from "./track.js";

export interface DeleteTrackDeps {
  readonly library: Pick<LibraryStore, "lockTrack">;
  readonly jobs: Pick<JobStore, "lockJobs" | "liveJobFrom" | "deleteSplitOutputs">;
  readonly ledger: Pick<LedgerStore, "lockBalances">;
  readonly erasures: Pick<ErasureStore, "eraseTrack">;
  readonly deletedFiles: Pick<DeleteFiles, "note">;
  readonly clock: Pick<Clock, "now">;
}

/**
 * Deletes the rows of a track, and with them the stems that its account had it split into; its files are noted.
 *
 * The account's balance is locked: a split of its own that was accepted before is seen here, and one that is accepted
 * later finds no track to work from, and is refunded.
 *
 * @returns the keys of the files, which are to be deleted once `tx` is committed
 * @throws {TrackNotFoundError} it is gone by now
 * @throws {InputRefusedError} a job works from it
 */
export async function deleteTrack(deps: DeleteTrackDeps, tx: Transaction, found: Track): Promise<readonly string[]> {
  const { library, jobs, ledger, erasures, deletedFiles, clock } = deps;
  const { id, accountId, jobId } = found;
  // One at a time of the tracks of a job: the last one takes the words of the job with it.
  if (jobId !== null) await jobs.lockJobs(tx, [jobId]);
  if (accountId !== null) await ledger.lockBalances(tx, [accountId]);
  const track = await library.lockTrack(tx, id);
  if (track === null) throw new TrackNotFoundError();
  const live = await jobs.liveJobFrom(tx, id);
  if (live !== null) throw inUse(id, live.accountId === accountId ? live.id : null);
  const stems = accountId === null ? [] : await jobs.deleteSplitOutputs(tx, id, accountId);
  await erasures.eraseTrack(tx, id, clock.now());
  const files = [...track.assets, ...stems].map(({ audioKey }) => audioKey);
  await deletedFiles.note(tx, files);
  return files;
}

/** @param jobId null: that of another account */
function inUse(trackId: TrackId, jobId: string | null): InputRefusedError {
  const job = jobId === null ? "a job of another account" : `the job ${jobId}`;
  const advice = jobId === null ? "wait for its end" : "wait for its end, or cancel it";
  const issue = { path: "path.id", message: `is a track that ${job} works from; ${advice}` };
  return new InputRefusedError(`${capital(job)} works from the track ${trackId}; ${advice}.`, [issue]);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
