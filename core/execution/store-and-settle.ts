import { ServiceUnavailableError } from "../errors.js";
import type { JobAttempt, StoredFiles } from "../jobs/job.js";
import type { Completed } from "../ports/music-provider.js";
import type { JobStep } from "./job-step.js";
import { isLasting } from "../attempts/retry-policy.js";

/**
 * Stores a result and charges for it, or reports that it cannot be fetched.
 *
 * @param again where the result can be fetched again when this step fails; `nowhere`: it is in the memory of this
 *   worker alone
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
    deps.logger.warn("Some files of a provider's result could not be stored", {
      missing: files.missing,
    });
  }
  await settle(step, number, files, cost);
}

/**
 * Whether the audio is analysed; the start of the analysis is recorded first. Nothing is derived from a split's files.
 */
async function mayListen(step: JobStep): Promise<boolean> {
  const { deps, job } = step;
  if (job.kind !== "music") return false;
  if (!step.mayAnalyse) {
    deps.logger.warn("The files of a job are stored without derived files: workers were lost while deriving them", {
      times: job.collectionsBegun,
    });
    return false;
  }
  try {
    await step.beginCollection();
    return true;
  } catch (error) {
    // The paid result is stored nevertheless.
    deps.logger.warn("The start of a file collection could not be recorded; the files are stored without analysis", {
      error,
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
  deps.logger.error("A provider's result could not be stored", {
    error,
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
 * Settles the job with stored files. They are deleted only when it is certain that the job was not settled with them.
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
