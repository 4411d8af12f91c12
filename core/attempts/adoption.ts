import type { JobAttempt } from "../jobs/job.js";
import { isBought, isOpen } from "./attempt-states.js";
import { closed, isSameWork, release, type Situation } from "./situation.js";
import { type AttemptUpdate, type Transition, transition } from "./transition.js";

/** What to do with word that an attempt was accepted or finished. */
export type Adoption =
  /** It becomes, or stays, what the job waits for. */
  | "adopt"
  /** Another attempt has the same work: the provider makes one piece for one job. */
  | "same"
  /** Another attempt is under way, or the job is at another provider: it was bought in vain. */
  | "late";

export function adoption(situation: Situation, attempt: JobAttempt): Adoption {
  const { job, attempts } = situation;
  const others = attempts.filter((other) => other.number !== attempt.number && isOpen(other));
  const areSame = others.every((other) => isSameWork(situation, attempt, other));
  if (others.some(isBought) && areSame) return "same";
  if (isOpen(attempt)) return "adopt";
  return areSame && job.providerId === attempt.providerId ? "adopt" : "late";
}

/** Word of an attempt that its job has no use for. Work that was bought twice is cancelled upstream. */
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
 * Attempts before, with an unknown outcome: the provider that has taken this one for the same job has made nothing else
 * for them.
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
