import type { JobWithTracks, ReadGenerations } from "../generations/read-generations.js";
import type { AccountId } from "../ids.js";
import { type Cancellation, cancellationOutcome, type OperateJobs } from "./operate-jobs.js";

export interface CancelOwnJobDeps {
  readonly read: Pick<ReadGenerations, "getJob">;
  /** By the rule of any cancellation; what an account does itself is not recorded in the audit log. */
  readonly operate: Pick<OperateJobs, "cancel">;
}

/** What became of a cancellation, and the job as it is now. */
export interface OwnCancellation extends Pick<Cancellation, "outcome"> {
  readonly found: JobWithTracks;
}

/** Lets an account cancel its own jobs. */
export class CancelOwnJob {
  constructor(private readonly deps: CancelOwnJobDeps) {}

  /**
   * Cancels a generation or a split. Repeating the call changes nothing more.
   *
   * @param signal ends the wait for the provider's reply; what was requested stays so
   * @throws {JobNotFoundError} unknown, or another account's
   * @throws {ServiceUnavailableError} it is not known whether it was requested; repeating the call is safe
   * @see OperateJobs.cancel for what is refunded and when
   */
  async execute(accountId: AccountId, id: string, signal: AbortSignal): Promise<OwnCancellation> {
    const { read, operate } = this.deps;
    await read.getJob(accountId, id);
    await operate.cancel(id, { accountId, signal });
    const found = await read.getJob(accountId, id);
    return { outcome: cancellationOutcome(found.job), found };
  }
}
