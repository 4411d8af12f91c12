import type { Alongside } from "../audit/audit-trail.js";
import type { CancelJobs } from "../jobs/cancel-jobs.js";
import type { JobState } from "../jobs/job.js";
import type { MaintenanceTask } from "../maintenance/maintenance.js";
import type { AccountStore } from "../ports/account-store.js";
import type { AudioStore } from "../ports/audio-store.js";
import type { Clock } from "../ports/clock.js";
import {
  ERASED_KINDS,
  type ErasedKind,
  type ErasedRows,
  type ErasureStore,
  type PendingDeletion,
} from "../ports/erasure-store.js";
import type { Logger } from "../ports/logger.js";
import type { Transaction, UnitOfWork } from "../ports/unit-of-work.js";
import type { WebhookStore } from "../ports/webhook-store.js";

export interface EraseAccountsDeps {
  readonly erasures: ErasureStore;
  readonly accounts: Pick<AccountStore, "updateAccount">;
  readonly webhooks: Pick<WebhookStore, "listEndpoints" | "lockEndpoint" | "dropPending" | "deleteEndpoint">;
  readonly audio: Pick<AudioStore, "deleteAll">;
  readonly endJobs: Pick<CancelJobs, "requestCancel">;
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly logger: Logger;
}

export const ERASE_TASK = "erase-accounts";
const EVERY_MS = 5_000;
/** A process that is lost keeps a deletion for so long from the others. */
export const ERASURE_LEASE_MS = 60_000;
/** In one transaction; few, so that none holds up a request. */
const ROWS = 200;
const JOBS = 20;
/** Only looked at: those that are erased already are passed over. */
const JOBS_LOOKED_AT = 500;
const LIVE_JOBS = 100;
/** Files of so many jobs or tracks are deleted at once. */
const DELETIONS_MAX = 8;
/** Between two rounds, while something may still come. */
const ROUND_MS = 10_000;
/**
 * The last round is not before this, counted from the request: a request that was under way by then may be logged late,
 * or an event stream end late.
 */
export const LAST_ROUND_MS = 30 * 60_000;
/** An upload that was begun is left alone for so long: it ends by itself, and what it stores is known until then. */
const UPLOAD_MS = 3_600_000;
/** A provider is asked for so long to cancel what ended jobs have bought. */
const CANCELS_MS = 10 * 60_000;

/** Nothing is recorded of a cancellation that the deletion of the account implies. */
const UNRECORDED: Alongside<JobState> = () => Promise.resolve();

/** What one step came to. */
interface Step {
  readonly erased: number;
  /** Whether the kind is done, in this round. */
  readonly isDone: boolean;
  /** Where the kind goes on; at its beginning by default. */
  readonly after?: PendingDeletion["place"]["after"];
  /** Whether something was left for a later round. */
  readonly leaves?: boolean;
}

/**
 * Erases deleted accounts: files first, then the rows that name them, so that a process that is lost in between leaves
 * nothing that is not found again. How far a deletion is stands in the storage; any process goes on with it.
 */
export class EraseAccounts {
  constructor(private readonly deps: EraseAccountsDeps) {}

  task(): MaintenanceTask {
    return {
      id: ERASE_TASK,
      description: "Erases what is stored of deleted accounts.",
      everyMs: EVERY_MS,
      run: (signal) => this.run(signal),
    };
  }

  /** Until no deletion is due. One that fails is left for a while, and does not delay others. */
  async run(signal: AbortSignal): Promise<void> {
    const { erasures, unitOfWork, clock, logger } = this.deps;
    while (!signal.aborted) {
      const now = clock.now();
      const claimed = await unitOfWork.inTransaction((tx) => erasures.claimDeletion(tx, now, now + ERASURE_LEASE_MS));
      if (claimed === null) return;
      try {
        await this.erase(claimed, signal);
      } catch (error) {
        logger.error("A deleted account could not be erased; it will be retried", {
          error,
          account_id: claimed.accountId,
        });
      }
    }
  }

  /** A round, or what is left of it. */
  private async erase(claimed: PendingDeletion, signal: AbortSignal): Promise<void> {
    let deletion: PendingDeletion | null = claimed;
    await this.stopJobs(claimed);
    while (deletion !== null && !signal.aborted) {
      const kind: ErasedKind | undefined = ERASED_KINDS[deletion.place.kind];
      if (kind === undefined) return this.endRound(deletion);
      deletion = await this.step(deletion, kind);
    }
  }

  /** By the rule of any cancellation: what is bought and cannot be cancelled runs to its end, and is erased then. */
  private async stopJobs({ accountId }: PendingDeletion): Promise<void> {
    const { erasures, endJobs, logger } = this.deps;
    for (const job of await erasures.liveJobs(accountId, LIVE_JOBS)) {
      if (job.cancelRequestedAt !== null) continue;
      try {
        await endJobs.requestCancel(job, UNRECORDED);
      } catch (error) {
        logger.error("A job of a deleted account could not be cancelled; it will be retried", {
          error,
          job_id: job.id,
        });
      }
    }
  }

  /** @returns null: another process has the deletion */
  private step(deletion: PendingDeletion, kind: ErasedKind): Promise<PendingDeletion | null> {
    switch (kind) {
      case "webhook_endpoints":
        return this.eraseEndpoints(deletion);
      case "jobs":
        return this.eraseJobs(deletion);
      case "tracks":
        return this.eraseTracks(deletion);
      case "uploads":
        return this.eraseUploads(deletion);
      default:
        return this.eraseRows(deletion, kind);
    }
  }

  private async eraseEndpoints(deletion: PendingDeletion): Promise<PendingDeletion | null> {
    const { webhooks, clock } = this.deps;
    const endpoints = await webhooks.listEndpoints(deletion.accountId);
    return this.write(deletion, async (tx) => {
      for (const { id } of endpoints) {
        await webhooks.lockEndpoint(tx, id);
        await webhooks.dropPending(tx, id, clock.now());
        await webhooks.deleteEndpoint(tx, id);
      }
      return { erased: endpoints.length, isDone: true };
    });
  }

  private eraseRows(deletion: PendingDeletion, kind: ErasedRows): Promise<PendingDeletion | null> {
    return this.write(deletion, async (tx) => {
      const erased = await this.deps.erasures.eraseRows(tx, kind, deletion.accountId, ROWS);
      return { erased, isDone: erased < ROWS };
    });
  }

  private async eraseJobs(deletion: PendingDeletion): Promise<PendingDeletion | null> {
    const { erasures, clock } = this.deps;
    const { accountId, place, requestedAt } = deletion;
    const looked = await erasures.endedJobs(accountId, place.after, JOBS_LOOKED_AT);
    const waitsForCancels = clock.now() < requestedAt + CANCELS_MS;
    const unerased = looked.filter(({ isErased }) => !isErased);
    const left = unerased.filter(({ isBusy }) => !isBusy || !waitsForCancels);
    const jobs = left.slice(0, JOBS);
    await this.deleteFiles(jobs.map(({ id }) => id));
    const last = left.length > JOBS ? jobs.at(-1) : looked.at(-1);
    const after = last === undefined ? place.after : { status: last.status, createdAt: last.createdAt, id: last.id };
    const isDone = looked.length < JOBS_LOOKED_AT && left.length <= JOBS;
    const ids = jobs.map(({ id }) => id);
    return this.write(deletion, async (tx) => ({
      erased: await erasures.eraseJobs(tx, ids, clock.now()),
      isDone,
      after,
      leaves: left.length < unerased.length,
    }));
  }

  private async eraseTracks(deletion: PendingDeletion): Promise<PendingDeletion | null> {
    const { erasures } = this.deps;
    const tracks = await erasures.listTracks(deletion.accountId, null, JOBS);
    await this.deleteFiles(tracks.map(({ id, jobId }) => jobId ?? id));
    const ids = tracks.map(({ id }) => id);
    return this.write(deletion, async (tx) => ({
      erased: await erasures.eraseTracks(tx, ids),
      isDone: tracks.length < JOBS,
    }));
  }

  private async eraseUploads(deletion: PendingDeletion): Promise<PendingDeletion | null> {
    const { erasures, clock } = this.deps;
    const uploads = await erasures.listUploads(deletion.accountId, clock.now() - UPLOAD_MS, JOBS);
    await this.deleteFiles(uploads);
    return this.write(deletion, async (tx) => ({
      erased: await erasures.eraseUploads(tx, uploads),
      isDone: uploads.length < JOBS,
    }));
  }

  /** Everything under these ids. */
  private async deleteFiles(prefixes: readonly string[]): Promise<void> {
    const left = [...new Set(prefixes)].values();
    const deleteLeft = async (): Promise<void> => {
      for (const prefix of left) await this.deps.audio.deleteAll(prefix);
    };
    await Promise.all(Array.from({ length: DELETIONS_MAX }, deleteLeft));
  }

  /** What a step erases, and how far the deletion is then, are written together. */
  private write(deletion: PendingDeletion, work: (tx: Transaction) => Promise<Step>): Promise<PendingDeletion | null> {
    const { unitOfWork, clock } = this.deps;
    const dueAt = clock.now() + ERASURE_LEASE_MS;
    return unitOfWork.inTransaction(async (tx) => {
      const { erased, isDone, after = null, leaves = false } = await work(tx);
      const { place } = deletion;
      const kind = ERASED_KINDS[place.kind] as ErasedKind;
      const next: PendingDeletion = {
        ...deletion,
        dueAt,
        erased: erased === 0 ? deletion.erased : { ...deletion.erased, [kind]: (deletion.erased[kind] ?? 0) + erased },
        place: {
          kind: isDone ? place.kind + 1 : place.kind,
          after: isDone ? null : after,
          found: place.found + erased + Number(leaves),
        },
      };
      return (await this.save(tx, next, deletion)) ? next : null;
    });
  }

  /** Done is what found nothing, while nothing can come any more. */
  private async endRound(deletion: PendingDeletion): Promise<void> {
    const { erasures, accounts, unitOfWork, clock, logger } = this.deps;
    const { accountId, requestedAt, place } = deletion;
    const isLeft =
      place.found > 0 || (await erasures.liveJobs(accountId, 1)).length > 0 || (await erasures.hasUploads(accountId));
    const now = clock.now();
    const isErased = !isLeft && now >= requestedAt + ROUND_MS;
    const erasedAt = deletion.erasedAt ?? (isErased ? now : null);
    const lastAt = requestedAt + LAST_ROUND_MS;
    const dueAt = !isErased ? now + ROUND_MS : now < lastAt ? lastAt : null;
    const next: PendingDeletion = { ...deletion, erasedAt, dueAt, place: FIRST_PLACE };
    const isWritten = await unitOfWork.inTransaction(async (tx) => {
      if (!(await this.save(tx, next, deletion))) return false;
      if (erasedAt !== null) await accounts.updateAccount(tx, accountId, { suspendedAt: null });
      return true;
    });
    if (isWritten && erasedAt !== deletion.erasedAt)
      logger.info("A deleted account was erased", { account_id: accountId, ...deletion.erased });
  }

  private async save(tx: Transaction, next: PendingDeletion, before: PendingDeletion): Promise<boolean> {
    return before.dueAt !== null && (await this.deps.erasures.writeDeletion(tx, next, before.dueAt));
  }
}

/** Where a round begins. */
export const FIRST_PLACE: PendingDeletion["place"] = { kind: 0, after: null, found: 0 };
