import { NotFoundError } from "../errors.js";
import { isId, type JobId } from "../ids.js";
import { isFinal } from "../jobs/job.js";
import type { CallbackStore, StoredCallback } from "../ports/callback-store.js";
import type { Clock } from "../ports/clock.js";
import type { Digest } from "../ports/digest.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { JobQueue } from "../ports/job-queue.js";
import type { JobStore } from "../ports/job-store.js";
import type { Logger } from "../ports/logger.js";
import type { Transaction, UnitOfWork } from "../ports/unit-of-work.js";
import type { CallbackSubject, CallbackUrls } from "./callback-urls.js";

/** A callback as the HTTP server took it. */
export interface IncomingCallback extends Pick<StoredCallback, "headers" | "query" | "body"> {
  readonly providerId: string;
  readonly jobId: string;
  readonly token: string;
}

/** A callback whose URL was checked. */
interface KnownCallback extends IncomingCallback, CallbackSubject {
  readonly jobId: JobId;
}

export interface ReceiveCallbackDeps {
  readonly urls: CallbackUrls;
  readonly jobs: JobStore;
  readonly callbacks: CallbackStore;
  readonly unitOfWork: UnitOfWork;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly digest: Digest;
  readonly logger: Logger;
}

/** Beyond 50 callbacks a job's callbacks are not stored; each still makes the job due for a poll. */
const KEPT_PER_JOB_MAX = 50;

/** Headers that a signature may cover or be in; cookies and others are not stored. */
const DROPPED_HEADERS: ReadonlySet<string> = new Set(["authorization", "cookie", "proxy-authorization"]);

/**
 * Stores a provider's report and notifies the workers of that job. Nothing is believed here: that is for the worker,
 * who knows the provider.
 */
export class ReceiveCallback {
  constructor(private readonly deps: ReceiveCallbackDeps) {}

  /**
   * Returns once the callback is kept, or is known to change nothing: an equal one was kept, or the job has ended.
   *
   * @throws {NotFoundError} the address is not one of this installation
   * @throws {ServiceUnavailableError} it was not kept: the provider may send it again
   */
  async receive(incoming: IncomingCallback): Promise<void> {
    const { providerId, jobId, token } = incoming;
    const { unitOfWork, queue } = this.deps;
    const subject = await this.subjectOf(providerId, jobId, token);
    if (!isId("job", jobId) || subject === null) throw new NotFoundError();
    const isNew = await unitOfWork.inTransaction((tx) => this.keep(tx, { ...incoming, ...subject, jobId }));
    if (isNew) queue.notify([{ jobId, providerId }]);
  }

  /**
   * Whether the address of a callback was created here. The token is a signature; the storage is asked only for a key
   * that is not known here yet.
   *
   * @throws {ServiceUnavailableError} the storage had to be asked, and cannot be
   */
  async isAddress(providerId: string, jobId: string, token: string): Promise<boolean> {
    return (await this.subjectOf(providerId, jobId, token)) !== null;
  }

  private async subjectOf(providerId: string, jobId: string, token: string): Promise<CallbackSubject | null> {
    return isId("job", jobId) ? this.deps.urls.read(providerId, jobId, token) : null;
  }

  private async keep(tx: Transaction, incoming: KnownCallback): Promise<boolean> {
    const { jobs, clock } = this.deps;
    const { jobId } = incoming;
    // The lock orders this after or before a worker's release: either that sees the callback, or this sees the job
    // without a lease.
    const job = (await jobs.lockJobs(tx, [jobId])).get(jobId);
    if (job === undefined || isFinal(job.status) || job.providerId !== incoming.providerId) return false;
    const now = clock.now();
    const isKept = await this.insert(tx, incoming, now);
    // Where nothing was submitted it says nothing new; where a submission's reply was lost it is what is waited for.
    if (job.phase === "waiting" || job.leaseOwner !== null) return isKept;
    // Also for one that is not kept: the provider says that something happened, and it is asked what.
    await jobs.updateJobs(tx, [{ id: jobId, fence: job.fence, changes: { dueAt: Math.min(now, job.dueAt ?? now) } }]);
    return true;
  }

  /** @returns false when there is one like it, or there are too many: nothing was written */
  private async insert(tx: Transaction, incoming: KnownCallback, receivedAt: number): Promise<boolean> {
    const { jobId, attempt } = incoming;
    const { callbacks, ids, digest, logger } = this.deps;
    if ((await callbacks.countOf(tx, jobId)) >= KEPT_PER_JOB_MAX) {
      logger.warn("A provider reports more about a job than is kept", { job_id: jobId, provider: incoming.providerId });
      return false;
    }
    const headers = Object.fromEntries(Object.entries(incoming.headers).filter(([name]) => !DROPPED_HEADERS.has(name)));
    return callbacks.insert(tx, {
      id: ids.next("cbk"),
      jobId,
      providerId: incoming.providerId,
      attempt,
      digest: digest.sha256(
        JSON.stringify([digest.sha256(incoming.body), incoming.query, signaturesAmong(headers), attempt]),
      ),
      headers,
      query: incoming.query,
      body: incoming.body,
      receivedAt,
    });
  }
}

/** A forged callback must not keep a real one with the same body out. */
function signaturesAmong(headers: IncomingCallback["headers"]): readonly (readonly [string, string])[] {
  return Object.entries(headers).filter(([name]) => name.includes("signature"));
}
