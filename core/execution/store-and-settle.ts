import { ServiceUnavailableError } from "../errors.js";
import type { JobAttempt, StoredFiles } from "../jobs/job.js";
import type { Completed } from "../ports/music-provider.js";
import type { JobStep } from "./job-step.js";
import { isLasting } from "./lasting-failure.js";

/** After this many lost workers the next one stores what the provider made as it is, without analysing it. */
const PLAIN_AFTER_CRASHES = 2;

/**
 * Stores what was made and charges for it; or reports that it cannot be had.
 *
 * @param again where it can be had once more when this step ends without it; `nowhere`: it is in the memory of this
 * worker alone
 */
export async function storeAndSettle(
  step: JobStep,
  number: number,
  made: Completed,
  again: "link" | "provider" | "nowhere",
): Promise<void> {
  const { deps, job, lease } = step;
  const cost = made.cost ?? null;
  let files: StoredFiles;
  try {
    files = await deps.storeFiles.store(
      await step.wholeJob(),
      {
        fence: lease.fence,
        artistLabel: step.working.label,
        made,
        isOnlyCopy: again === "nowhere",
        isPlain: job.crashes >= PLAIN_AFTER_CRASHES,
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

async function unavailable(
  step: JobStep,
  number: number,
  error: unknown,
  again: "link" | "provider" | "nowhere",
  cost: Completed["cost"] | null,
): Promise<void> {
  const { deps, job } = step;
  const failure = isLasting(error) ? error : null;
  deps.logger.error("What a provider made could not be stored", {
    error,
    job_id: job.id,
    provider: job.providerId,
    again,
  });
  const { ended } = await step.report({ type: "files_unavailable", number, failure, again, cost: cost ?? null });
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
