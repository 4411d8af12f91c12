import { isFinal, type JobAttempt, type JobState } from "../jobs/job.js";
import { afterEnd } from "./decide-after-end.js";
import { onCancelReported, onCancelRequested, withoutAnotherAttempt } from "./decide-cancel.js";
import { onCancelled, onDeadline, onSuspected } from "./decide-end.js";
import { onFilesKept, onFilesStored, onFilesUnavailable } from "./decide-files.js";
import { giveUp, isOverdue, onFinished, onPollFailed, onRunning } from "./decide-rendering.js";
import {
  onAbsent,
  onAccepted,
  onIntended,
  onMoved,
  onNotCalled,
  onSubmissionFailed,
  onUnbuildable,
  onUnresolved,
} from "./decide-submission.js";
import type { ExecutionEvent } from "./events.js";
import { crashDelayMs, type ExecutionPolicy } from "./policy.js";
import { openAttempt, attemptOf, release, type Situation } from "./situation.js";
import { STALE, type Transition, transition } from "./transition.js";

/** A report on a job under way. */
export interface Report {
  readonly event: ExecutionEvent;
  /**
   * The fence under which the worker claimed the job; null for an operator or a deadline, which overrule any worker.
   */
  readonly fence: number | null;
  readonly policy: ExecutionPolicy;
}

/**
 * Decides how an event changes a job and its attempts. Pure: time, randomness and the provider's capabilities are
 * arguments.
 *
 * A report on an attempt counts by the attempt's state, whichever worker sends it; every other event counts only from
 * the worker that holds the lease. The first ending of a job wins.
 *
 * @see architecture, "Path of a job"; decisions, "Job/generation status"
 */
export function decide(job: JobState, attempts: readonly JobAttempt[], report: Report, now: number): Transition {
  const { event, fence, policy } = report;
  const situation: Situation = { job, attempts, holdsLease: fence === job.fence, policy, now };
  if (isFinal(job.status)) return afterEnd(situation, event);
  return withoutAnotherAttempt(situation, whileAlive(situation, event, fence));
}

function whileAlive(situation: Situation, event: ExecutionEvent, fence: number | null): Transition {
  if ("number" in event && attemptOf(situation, event.number)?.state === "settled") return STALE;
  switch (event.type) {
    case "accepted":
      return onAccepted(situation, event);
    case "finished":
      return collecting(situation, event, onFinished(situation, event));
    case "files_stored":
      return onFilesStored(situation, event);
    case "files_kept":
      return onFilesKept(situation, event);
    case "submission_failed":
      return onSubmissionFailed(situation, event);
    case "not_called":
      return onNotCalled(situation, event);
    case "poll_failed":
      return onPollFailed(situation, event);
    case "running":
      return onRunning(situation, event);
    case "cancel_requested":
      return onCancelRequested(situation);
    case "cancel_reported":
      return onCancelReported(situation, event);
    case "cancelled":
      return onCancelled(situation);
    case "deadline":
      return onDeadline(situation);
    default:
      return situation.holdsLease && fence !== null ? underLease(situation, event) : STALE;
  }
}

type LeaseEvent = Extract<
  ExecutionEvent,
  {
    type:
      | "intended"
      | "absent"
      | "unresolved"
      | "unbuildable"
      | "moved"
      | "files_unavailable"
      | "suspected"
      | "collecting"
      | "crashed"
      | "released";
  }
>;

function underLease(situation: Situation, event: LeaseEvent): Transition {
  switch (event.type) {
    case "intended":
      return onIntended(situation, event);
    case "absent":
      return onAbsent(situation, event);
    case "unresolved":
      return onUnresolved(situation, event);
    case "unbuildable":
      return onUnbuildable(situation, event);
    case "moved":
      return onMoved(situation, event);
    case "files_unavailable":
      return collected(situation, event, onFilesUnavailable(situation, event));
    case "suspected":
      return onSuspected(situation, event);
    case "crashed":
      return collected(situation, event, onCrashed(situation));
    case "collecting":
      return collecting(situation, { collects: true }, transition({ next: "continue" }));
    case "released":
      return collected(situation, event, onReleased(situation, event.afterMs));
  }
}

/** The worker that holds the lease goes on with the collection of the files. */
function collecting(
  { job: { collectionsBegun }, holdsLease }: Situation,
  { collects = false }: { readonly collects?: boolean },
  decided: Transition,
): Transition {
  if (!collects || !holdsLease || decided.next !== "continue") return decided;
  return { ...decided, job: { ...decided.job, collectionsBegun: collectionsBegun + 1 } };
}

/** A collection that ended, successfully or not, did not crash its worker. */
function collected(
  { job: { collectionsBegun } }: Situation,
  { endsCollection = false }: { readonly endsCollection?: boolean },
  decided: Transition,
): Transition {
  if (!endsCollection || collectionsBegun === 0) return decided;
  return { ...decided, job: { ...decided.job, collectionsBegun: collectionsBegun - 1 } };
}

function onCrashed(situation: Situation): Transition {
  const { crashes } = situation.job;
  const attempt = openAttempt(situation);
  // The files are stored, but the job could not be settled with them before the deadline.
  if (attempt?.state === "stored" && isOverdue(situation, attempt)) return giveUp(situation, attempt);
  return transition({
    job: { ...release(situation, crashDelayMs(crashes)), crashes: crashes + 1, ...queuedAgain(situation) },
  });
}

function onReleased(situation: Situation, afterMs: number): Transition {
  return transition({ job: { ...release(situation, afterMs), ...queuedAgain(situation) } });
}

/** A claimed job without a purchase returns to the queue. */
function queuedAgain({ job }: Situation): { readonly status?: "queued" } {
  return job.phase === "waiting" && job.status === "processing" ? { status: "queued" } : {};
}
