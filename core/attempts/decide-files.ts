import { jobErrorOf } from "../jobs/job-errors.js";
import type { JobAttempt } from "../jobs/job.js";
import { ProviderFailure } from "../ports/music-provider.js";
import { isOpen } from "./attempt-states.js";
import { askAgain, isEnd } from "./decide-rendering.js";
import type { FilesEvent } from "./events.js";
import { confirmPollMs, FETCH_RETRY_MS } from "./policy.js";
import {
  abandonAll,
  attemptOf,
  closed,
  failUnlessBought,
  failureChanges,
  isSameWork,
  jittered,
  release,
  type Situation,
} from "./situation.js";
import { type AttemptUpdate, STALE, type Transition, transition } from "./transition.js";

type Of<Type extends FilesEvent["type"]> = Extract<FilesEvent, { type: Type }>;

/** The files are stored: the job completes with them, whichever worker stored them. */
export function onFilesStored(situation: Situation, { number, files, cost }: Of<"files_stored">): Transition {
  const { now, policy } = situation;
  const attempt = attemptOf(situation, number);
  if (attempt === undefined) return STALE;
  const message = files.missing.length === 0 ? null : files.missing.join(" ");
  const settled = closed(now, "settled", {
    outcome: "completed",
    message,
    cost: cost ?? attempt.cost ?? policy.expectedCost,
    billable: "yes",
    acceptedAt: attempt.acceptedAt ?? now,
    finishedAt: attempt.finishedAt ?? now,
    loss: null,
  });
  return transition({
    attempts: [{ number, changes: settled }, ...othersOf(situation, attempt)],
    job: situation.job.status === "queued" ? { status: "processing" } : {},
    ending: { status: "completed", files },
  });
}

/**
 * A provider that creates one result per job created nothing for the other attempts; at other providers they are wasted
 * purchases.
 */
function othersOf(situation: Situation, delivered: JobAttempt): AttemptUpdate[] {
  const nothing = { cost: null, billable: "no", loss: null, cancelDueAt: null, handle: null } as const;
  return abandonAll(situation, "late", delivered.number).map((update) => {
    const other = attemptOf(situation, update.number);
    const isSame = other !== undefined && isSameWork(situation, delivered, other);
    return isSame ? { ...update, changes: { ...update.changes, ...nothing } } : update;
  });
}

/**
 * Records the stored files with the attempt, so that the next worker can settle the job without fetching them again.
 */
export function onFilesKept(situation: Situation, { number, files }: Of<"files_kept">): Transition {
  const attempt = attemptOf(situation, number);
  if (attempt === undefined || !isOpen(attempt)) return STALE;
  return transition({
    next: "continue",
    attempts: [{ number, changes: { state: "stored", files, result: null } }],
    job: { phase: "rendering" },
  });
}

const DEAD = "The provider made it, and its files cannot be had.";

/**
 * A paid result is fetched again: at once where that may help, and with a fresh link from the provider where a link is
 * dead. A job gives it up only when its links stay dead for the policy's `confirmMs`, or when it was only in the memory
 * of this worker.
 */
export function onFilesUnavailable(
  situation: Situation,
  { number, failure, again, cost }: Of<"files_unavailable">,
): Transition {
  const { now, policy } = situation;
  const attempt = attemptOf(situation, number);
  // Another worker has stored the files meanwhile, or the attempt is closed.
  const isNeeded = attempt !== undefined && isOpen(attempt) && attempt.state !== "stored";
  if (!isNeeded) return transition({ job: release(situation, 0) });
  if (failure === null || !isEnd(failure)) {
    if (again !== "nowhere") return askAgain(situation, attempt, jittered(situation, FETCH_RETRY_MS));
    const lost = failure ?? new ProviderFailure("failed", DEAD);
    return filesLost(situation, number, lost, cost);
  }
  const doubtedSince = attempt.endReportedAt ?? now;
  if (again === "nowhere" || now >= doubtedSince + policy.confirmMs) return filesLost(situation, number, failure, cost);
  const fresh = attempt.handle === null ? {} : ({ state: "accepted", result: null } as const);
  const said = {
    endReportedAt: doubtedSince,
    message: failure.message,
    cost: cost ?? attempt.cost ?? policy.expectedCost,
    ...fresh,
  };
  return askAgain(situation, attempt, jittered(situation, confirmPollMs(policy)), null, said);
}

/** The provider created and billed it, whether or not its files could be stored. */
function filesLost(
  situation: Situation,
  number: number,
  failure: ProviderFailure,
  cost: Of<"files_unavailable">["cost"],
): Transition {
  const said = failureChanges(situation, failure);
  const changes = closed(situation.now, "failed", {
    ...said,
    cost: cost ?? said.cost ?? situation.policy.expectedCost,
    billable: "yes",
    acceptedAt: attemptOf(situation, number)?.acceptedAt ?? situation.now,
    loss: "files_lost",
  });
  return failUnlessBought(situation, jobErrorOf(failure.kind), [{ number, changes }]);
}
