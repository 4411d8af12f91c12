import type { CallbackStore } from "../ports/callback-store.js";
import type { Clock } from "../ports/clock.js";
import type { IdempotencyStore } from "../ports/idempotency-store.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { Logger } from "../ports/logger.js";
import type { RequestLogStore } from "../ports/request-log-store.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import type { WebhookStore } from "../ports/webhook-store.js";
import { LOG_KEPT_MS } from "../usage/request-log.js";
import type { EndJobs } from "../execution/end-jobs.js";

export interface HousekeepingParts {
  readonly callbacks: CallbackStore;
  readonly idempotency: IdempotencyStore;
  readonly webhooks: WebhookStore;
  readonly requestLog: RequestLogStore;
  readonly library: LibraryStore;
  readonly endJobs: Pick<EndJobs, "endOverdue">;
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly logger: Logger;
}

const INTERVAL_MS = 5_000;
const DELETE_BATCH = 500;
/** Rows of the request log are many, and lie apart: few at once, and what is left after so many steps waits for the next round. */
const LOG_DELETE_BATCH = 100;
const LOG_DELETE_STEPS = 200;
/** Each holds up the writers of an embedded database for a moment; after a great import there are hundreds to do, and nobody waits for them. */
const FILING_STEPS = 5;
/** With their deliveries and tries; the last try of the schedule is long over by then. */
const WEBHOOK_EVENTS_KEPT_MS = 30 * 86_400_000;
/** What providers reported; no job lives that long. */
const CALLBACKS_KEPT_MS = 14 * 86_400_000;

/**
 * What nobody waits for: jobs past their deadline, idempotency records, webhook events, callbacks and request log rows past their life; and filing
 * what was added to the library. Extra copies in other processes do no harm.
 */
export class Housekeeping {
  constructor(private readonly parts: HousekeepingParts) {}

  /** Keeps house until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.keepOnce();
      } catch (error) {
        this.parts.logger.error("Housekeeping failed", { error });
      }
      await this.parts.clock.sleep(INTERVAL_MS, signal);
    }
  }

  async keepOnce(): Promise<void> {
    await this.parts.endJobs.endOverdue();
    await this.deleteExpiredRecords();
    await this.deleteOldEvents();
    await this.deleteOldCallbacks();
    await this.deleteOldRequests();
    await this.fileLibrary();
  }

  private async deleteOldEvents(): Promise<void> {
    const { unitOfWork, webhooks, clock } = this.parts;
    const createdBefore = clock.now() - WEBHOOK_EVENTS_KEPT_MS;
    let deleted: number;
    do {
      deleted = await unitOfWork.inTransaction((tx) => webhooks.deleteOld(tx, createdBefore, DELETE_BATCH));
    } while (deleted === DELETE_BATCH);
  }

  private async deleteOldCallbacks(): Promise<void> {
    const { unitOfWork, callbacks, clock } = this.parts;
    const receivedBefore = clock.now() - CALLBACKS_KEPT_MS;
    let deleted: number;
    do {
      deleted = await unitOfWork.inTransaction((tx) => callbacks.deleteOld(tx, receivedBefore, DELETE_BATCH));
    } while (deleted === DELETE_BATCH);
  }

  private async deleteOldRequests(): Promise<void> {
    const { unitOfWork, requestLog, clock } = this.parts;
    const createdBefore = clock.now() - LOG_KEPT_MS;
    for (let step = 0; step < LOG_DELETE_STEPS; step++) {
      const deleted = await unitOfWork.inTransaction((tx) => requestLog.deleteOld(tx, createdBefore, LOG_DELETE_BATCH));
      if (deleted < LOG_DELETE_BATCH) return;
    }
  }

  private async fileLibrary(): Promise<void> {
    const { unitOfWork, library } = this.parts;
    for (let step = 0; step < FILING_STEPS; step++) {
      if (!(await unitOfWork.inTransaction((tx) => library.fileForSearch(tx)))) return;
    }
  }

  private async deleteExpiredRecords(): Promise<void> {
    const { unitOfWork, idempotency, clock } = this.parts;
    let deleted: number;
    do {
      deleted = await unitOfWork.inTransaction((tx) => idempotency.deleteExpired(tx, clock.now(), DELETE_BATCH));
    } while (deleted === DELETE_BATCH);
  }
}
