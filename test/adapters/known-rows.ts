import type { ProcessId } from "../../core/ids.js";
import type { Job } from "../../core/jobs/job.js";
import type { Account, ApiKey } from "../../core/ports/account.js";
import type { IdempotencyRecord } from "../../core/ports/idempotency-store.js";

/** Rows among many others that the operations read. */
export interface KnownRows {
  readonly account: Account;
  readonly key: ApiKey;
  readonly record: IdempotencyRecord;
  /** An ended job, with an attempt and a track. */
  readonly job: Job;
  /** A running job. */
  readonly leased: Job & { readonly leaseOwner: ProcessId };
  readonly reference: string;
}
