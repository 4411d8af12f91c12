import type { AccountId, JobId } from "../ids.js";
import type { Digest } from "../ports/digest.js";
import type { IdempotencyStore, StoredResponse } from "../ports/idempotency-store.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";

export interface RecordResponseDeps {
  readonly unitOfWork: UnitOfWork;
  readonly idempotency: IdempotencyStore;
  readonly digest: Digest;
}

/** Replaces the stored response of a key, when a caller that asked to wait gets another one than the acceptance. */
export class RecordResponse {
  constructor(private readonly deps: RecordResponseDeps) {}

  /**
   * Call it before the response is sent, so that the recorded response is the one that was sent. A key that has expired
   * meanwhile stays free, and one that was used for another job since keeps the response of that job.
   */
  async record(accountId: AccountId, key: string, jobId: JobId, response: StoredResponse): Promise<void> {
    const record = { accountId, keyHash: this.deps.digest.sha256(key), jobId };
    await this.deps.unitOfWork.inTransaction((tx) => this.deps.idempotency.updateResponse(tx, record, response));
  }
}
