import { BackgroundLoop } from "../background-loop.js";
import { ServiceUnavailableError } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { Logger } from "../ports/logger.js";
import type { Metrics } from "../ports/metrics.js";
import type { RequestLogStore } from "../ports/request-log-store.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import { RefusedRequests } from "./refused-requests.js";
import { type LoggedRequest, PATH_MAX_LENGTH } from "../ports/request-log.js";

/**
 * Rows written in one transaction; as many as wait are written at once. Of the requests that one batch has of an
 * account, most are counted by one change of its counts.
 */
export const BATCH_MAX = 5_000;
/** How long a row waits for others. */
export const FLUSH_MS = 1_000;
/** Rows that may wait in this process. */
export const WAITING_MAX = 20_000;
/** The pauses between attempts while the storage is unavailable: this at first, twice as long each time. */
const PAUSE_MIN_MS = 1_000;
const PAUSE_MAX_MS = 5_000;
/** The pause between attempts while the process stops. */
const LAST_PAUSE_MS = 100;

export interface RecordRequestsDeps {
  readonly log: RequestLogStore;
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "countDroppedLogRows"> | null;
  /** Masks text that has the form of a secret. */
  readonly redact: (text: string) => string;
}

/**
 * The request log of one process. A request costs its caller a push onto a list; rows are written in batches after the
 * responses. While the storage takes none they wait, up to {@link WAITING_MAX}; what comes then is dropped and counted.
 * No credits are lost with a row.
 */
export class RecordRequests {
  private waiting: LoggedRequest[] = [];
  private readonly refused = new RefusedRequests();
  private added = 0;
  /** Of those added: written, or given up. */
  private done = 0;
  /** Tries in a row that wrote nothing. */
  private failures = 0;
  private isDropping = false;
  private isClosed = false;
  private readonly loop: BackgroundLoop;
  private writing: Promise<void> | null = null;

  constructor(private readonly deps: RecordRequestsDeps) {
    const { clock, logger } = deps;
    const onError = { errorPauseMs: PAUSE_MAX_MS, errorMessage: "Request log rows could not be written" };
    this.loop = new BackgroundLoop({ step: () => this.drain(), ...onError, clock, logger });
    this.loop.start(null);
  }

  /** Adds a completed request. Never throws, never waits. */
  add(request: LoggedRequest): void {
    if (this.isClosed) return this.drop(1);
    const wasWritten = this.isWritten;
    if (this.refused.merge(request)) {
      if (wasWritten && this.failures === 0) this.loop.wake(FLUSH_MS);
      return;
    }
    if (this.waiting.length >= WAITING_MAX) return this.drop(1);
    this.waiting.push(request);
    this.added += 1;
    if (this.failures > 0) return;
    if (this.waiting.length >= BATCH_MAX) this.loop.wake();
    else if (this.waiting.length === 1) this.loop.wake(FLUSH_MS);
  }

  /**
   * Resolves when everything added so far is written; at once while the storage takes no rows. Never
   * rejects.
   */
  async flush(): Promise<void> {
    const last = this.added;
    while (this.done < last && this.waiting.length > 0 && this.failures === 0) await this.writeBatch();
    // A batch that is under way may hold less than was counted by now; the next one holds all of it.
    for (let batches = 0; batches < 2 && !this.refused.isWritten && this.failures === 0; batches++) {
      await this.writeBatch();
    }
  }

  /** Takes no more, and writes what waits, trying for at most `graceMs`; what is left then is dropped. */
  async close(graceMs: number): Promise<void> {
    const { clock } = this.deps;
    this.isClosed = true;
    void this.loop.stop();
    const timeUp = new AbortController();
    const deadline = clock.sleep(graceMs, timeUp.signal).then(() => timeUp.abort());
    while (!this.isWritten && !timeUp.signal.aborted) {
      await Promise.race([this.writeBatch(), deadline]);
      if (this.failures > 0) await clock.sleep(LAST_PAUSE_MS, timeUp.signal);
    }
    timeUp.abort();
    if (this.waiting.length > 0) this.drop(this.waiting.length);
    this.waiting = [];
  }

  /** Writes a batch. @returns the pause before the next one; null when no row waits */
  private async drain(): Promise<number | null> {
    await this.writeBatch();
    if (this.isWritten) return null;
    return this.failures === 0 && this.waiting.length >= BATCH_MAX ? 0 : this.pauseMs();
  }

  private get isWritten(): boolean {
    return this.waiting.length === 0 && this.refused.isWritten;
  }

  private pauseMs(): number {
    return this.failures === 0 ? FLUSH_MS : Math.min(PAUSE_MIN_MS * 2 ** (this.failures - 1), PAUSE_MAX_MS);
  }

  /** One batch at a time: requests that come meanwhile are in the next one. */
  private writeBatch(): Promise<void> {
    this.writing ??= this.write().finally(() => {
      this.writing = null;
    });
    return this.writing;
  }

  private async write(): Promise<void> {
    const merged = this.refused.changed(BATCH_MAX);
    const batch = this.waiting.slice(0, BATCH_MAX - merged.length);
    if (batch.length + merged.length === 0) return;
    // What failed before may have been committed, and its reply lost.
    const areNew = merged.length === 0 && this.failures === 0;
    try {
      await this.insert(
        [...batch, ...merged].map((request) => this.toRow(request)),
        areNew,
      );
    } catch (error) {
      if (this.failures === 0) this.deps.logger.warn("The storage takes no request log rows; they wait", { error });
      this.failures += 1;
      return;
    }
    this.failures = 0;
    this.isDropping = false;
    // Those behind the batch came while it was written.
    this.waiting.splice(0, batch.length);
    this.refused.wereWritten(merged);
    this.done += batch.length;
  }

  /**
   * A batch that is refused is halved until the failing row is alone. @throws {ServiceUnavailableError} some are not
   * written
   */
  private async insert(rows: readonly LoggedRequest[], areNew: boolean): Promise<void> {
    const { unitOfWork, log, logger } = this.deps;
    try {
      await unitOfWork.inTransaction((tx, { isRetry }) => log.insert(tx, rows, { areNew: areNew && !isRetry }));
    } catch (error) {
      if (error instanceof ServiceUnavailableError) throw error;
      if (rows.length === 1) {
        logger.error("A request log row was refused", { error, request_id: rows[0]?.id });
        this.deps.metrics?.countDroppedLogRows(1);
        return;
      }
      const half = Math.ceil(rows.length / 2);
      await this.insert(rows.slice(0, half), areNew);
      await this.insert(rows.slice(half), areNew);
    }
  }

  /** A caller chooses the path. */
  private toRow(request: LoggedRequest): LoggedRequest {
    // Most paths are their own template.
    if (request.path === request.route && request.path.length <= PATH_MAX_LENGTH) return request;
    const path = this.deps.redact(request.path);
    return { ...request, path: path.length <= PATH_MAX_LENGTH ? path : `${path.slice(0, PATH_MAX_LENGTH - 1)}…` };
  }

  private drop(count: number): void {
    if (!this.isDropping) this.deps.logger.warn("Request log rows are dropped", { waiting: this.waiting.length });
    this.isDropping = true;
    this.deps.metrics?.countDroppedLogRows(count);
  }
}
