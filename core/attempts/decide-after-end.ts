import type { JobAttempt } from "../jobs/job.js";
import { isOpen } from "./attempt-states.js";
import type { ExecutionEvent } from "./events.js";
import { attemptOf, closed, isSameWork, type Situation } from "./situation.js";
import { STALE, type Transition, transition } from "./transition.js";

/**
 * A report on an attempt whose job has ended: the attempt records it, and work that still runs is cancelled at the
 * provider.
 */
export function afterEnd(situation: Situation, event: ExecutionEvent): Transition {
  if (event.type !== "accepted" && event.type !== "finished" && event.type !== "files_stored") return STALE;
  const attempt = attemptOf(situation, event.number);
  if (attempt === undefined || attempt.state === "settled" || isDelivered(situation, attempt)) return STALE;
  const { now, policy } = situation;
  const isCreated = event.type !== "accepted";
  const handle = event.type === "accepted" ? event.handle : null;
  const cancel = handle !== null && policy.capabilities.cancel ? { handle, cancelDueAt: now } : {};
  const changes = closed(now, "abandoned", {
    outcome: isCreated ? "completed" : "accepted",
    acceptedAt: attempt.acceptedAt ?? now,
    cost: (isCreated ? event.cost : null) ?? attempt.cost ?? policy.expectedCost,
    billable: isCreated ? "yes" : "unknown",
    loss: attempt.loss === null || attempt.loss === "unknown" ? "late" : attempt.loss,
    ...cancel,
  });
  return transition({ next: "stale", attempts: [{ number: attempt.number, changes }] });
}

/** Whether another attempt stands for the same work and the job completed with it. */
function isDelivered(situation: Situation, attempt: JobAttempt): boolean {
  const others = situation.attempts.filter(({ number }) => number !== attempt.number);
  return others.some((other) => isSameWork(situation, attempt, other) && (other.state === "settled" || isOpen(other)));
}
