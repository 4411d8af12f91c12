import { ServiceUnavailableError } from "../errors.js";
import type { JobAttempt, StoredFiles } from "../jobs/job.js";
import type { Completed } from "../ports/music-provider.js";
import type { JobStep } from "./job-step.js";
import { isLasting } from "../attempts/retry-policy.js";
import { isStoredPlain } from "../attempts/policy.js";

/**
 * Stores what was made and charges for it; or reports that it cannot be had.
 *
 * @param again where it can be had once more when this step ends without it; `nowhere`: it is in the memory of this
 * worker alone
 */
export async function storeAndSettle(
  step: JobStep,
  number: number,
  created: Completed,
  again: "link" | "provider" | "nowhere",
): Promise<void> {
  const { deps, job, lease } = step;
  const cost = created.cost ?? null;
  const isPlain = !(await mayListen(step));
  let files: StoredFiles;
  try {
    files = await deps.storeFiles.store(
      await step.wholeJob(),
      {
        fence: lease.fence,
        artistLabel: step.working.label,
        created: created,
        isOnlyCopy: again === "nowhere",
        isPlain,
      },
      step.signal,
    );
  } catch (error) {
    await deps.storeFiles.discard(job.id, lease.fence);
    if (step.signal.aborted) throw error;
    return unavailable(step, number, error, again, cost);
  }
  if (files.missing.length > 0) {
    deps.logger.warn("Not all of what a provider made could be stored", { job_id: job.id, missing: files.missing });
  }
  await settle(step, number, files, cost);
}

/**
 * Whether the audio is listened to; that it is about to be is written down before. Nothing is derived from a split's
 * files.
 */
async function mayListen(step: JobStep): Promise<boolean> {
  const { deps, job } = step;
  if (job.kind !== "music") return false;
  if (isStoredPlain(job)) {
    deps.logger.warn("The files of a job are stored without derived parts: workers were lost while they made them", {
      job_id: job.id,
      times: job.collectionsBegun,
    });
    return false;
  }
  try {
    await step.beginCollection();
    return true;
  } catch (error) {
    // What is paid for is stored nevertheless.
    deps.logger.warn("The beginning of a collection could not be written; the files are stored as they are", {
      error,
      job_id: job.id,
    });
    return false;
  }
}

async function unavailable(
  step: JobStep,
  number: number,
  error: unknown,
  again: "link" | "provider" | "nowhere",
  cost: Completed["cost"] | null,
): Promise<void> {
  const { deps, job } = step;
  const failure = isLasting(error) ? error : null;
  const endsCollection = step.isCollecting;
  deps.logger.error("What a provider made could not be stored", {
    error,
    job_id: job.id,
    provider: job.providerId,
    again,
  });
  const { ended } = await step.report({
    type: "files_unavailable",
    number,
    failure,
    again,
    cost: cost ?? null,
    endsCollection,
  });
  if (ended !== null) await deps.storeFiles.discardAll(job.id);
}

/**
 * Settles the job with files that are stored. They are kept unless it is certain that the job was not settled with
 * them.
 */
async function settle(
  step: JobStep,
  number: number,
  files: StoredFiles,
  cost: Completed["cost"] | null,
): Promise<void> {
  const { deps, job, lease } = step;
  let applied;
  try {
    applied = await step.report({ type: "files_stored", number, files, cost: cost ?? null });
  } catch (error) {
    // Whether it was committed is not known; the collector of audio files compares them with the job later.
    if (error instanceof ServiceUnavailableError) throw error;
    await step.report({ type: "files_kept", number, files });
    throw error;
  }
  if (applied.ended === null) await deps.storeFiles.discard(job.id, lease.fence);
  else await deps.storeFiles.discardBefore(job.id, lease.fence);
}

/** Settles a job whose files were stored before, and which could not be settled then. */
export async function settleStored(step: JobStep, { number, files, cost }: JobAttempt): Promise<void> {
  if (files === null) throw new Error(`The attempt ${number} of ${step.job.id} is stored without its files.`);
  await step.report({ type: "files_stored", number, files, cost });
}
