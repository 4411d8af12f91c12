import type { AccountId, JobId } from "../ids.js";
import type { Digest } from "../ports/digest.js";
import type { IdempotencyStore } from "../ports/idempotency-store.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import type { StoredAnswer } from "./replay.js";

/** Replaces the answer kept for a key, when a caller who asked to wait gets another one than the acceptance. */
export class RecordAnswer {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly idempotency: IdempotencyStore,
    private readonly digest: Digest,
  ) {}

  /**
   * To be done before the answer is sent: what was sent is what is recorded. A key that has expired meanwhile stays
   * free, and one that was used for another job since keeps the answer of that job.
   */
  async record(accountId: AccountId, key: string, jobId: JobId, answer: StoredAnswer): Promise<void> {
    const record = { accountId, keyHash: this.digest.sha256(key), jobId };
    await this.unitOfWork.inTransaction((tx) => this.idempotency.updateAnswer(tx, record, answer));
  }
}
