import type { JobAttempt } from "../jobs/job.js";
import { isBought, isOpen } from "./attempt-states.js";
import { closed, isSameWork, release, type Situation } from "./situation.js";
import { type AttemptUpdate, type Transition, transition } from "./transition.js";

/** What to do with a report that an attempt was accepted or finished. */
export type Adoption =
  /** It becomes, or stays, what the job waits for. */
  | "adopt"
  /** Another attempt stands for the same work: the provider creates one result per job. */
  | "same"
  /** Another attempt is open, or the job is at another provider: this purchase is wasted. */
  | "late";

export function adoption(situation: Situation, attempt: JobAttempt): Adoption {
  const { job, attempts } = situation;
  const others = attempts.filter((other) => other.number !== attempt.number && isOpen(other));
  const areSame = others.every((other) => isSameWork(situation, attempt, other));
  if (others.some(isBought) && areSame) return "same";
  if (isOpen(attempt)) return "adopt";
  return areSame && job.providerId === attempt.providerId ? "adopt" : "late";
}

/**
 * Closes an attempt whose report comes too late for its job. Work that was bought twice is cancelled at the provider.
 */
export function notAdopted(
  situation: Situation,
  attempt: JobAttempt,
  why: Exclude<Adoption, "adopt">,
  word: Pick<JobAttempt, "handle" | "outcome">,
): Transition {
  const { now, policy } = situation;
  if (why === "same") {
    const changes = closed(now, "abandoned", { outcome: word.outcome, cost: null, billable: "no" });
    return transition({ attempts: [{ number: attempt.number, changes }], job: release(situation, 0) });
  }
  const cancel = word.handle !== null && policy.capabilities.cancel ? { handle: word.handle, cancelDueAt: now } : {};
  const bought = {
    outcome: word.outcome,
    acceptedAt: attempt.acceptedAt ?? now,
    cost: policy.expectedCost,
    loss: "late",
  } as const;
  const billable = word.outcome === "completed" ? "yes" : "unknown";
  const changes = closed(now, "abandoned", { ...bought, billable, ...cancel });
  return transition({ attempts: [{ number: attempt.number, changes }], job: release(situation, 0) });
}

/**
 * Closes earlier attempts with an unknown outcome: the provider accepted this attempt for the same job and created
 * nothing else for the earlier ones.
 */
export function superseded({ attempts, now }: Situation, number: number): AttemptUpdate[] {
  const before = attempts.filter((attempt) => attempt.number !== number && attempt.state === "unknown");
  return before.map((attempt) => ({
    number: attempt.number,
    changes: closed(now, "abandoned", { cost: null, billable: "no" }),
  }));
}

export function progress(crashes: number): { readonly crashes?: 0 } {
  return crashes === 0 ? {} : { crashes: 0 };
}
