import type { AttemptState, JobAttempt, JobPhase } from "../jobs/job.js";

/** Whether an attempt is under way: what it bought, or may have bought, can still be delivered. */
export const OPEN_STATES = [
  "intended",
  "unknown",
  "accepted",
  "finished",
  "stored",
] as const satisfies readonly AttemptState[];

export function isOpen({ state }: Pick<JobAttempt, "state">): boolean {
  return OPEN_STATES.some((open) => open === state);
}

/** Where the provider is known to have accepted it. */
export function isBought({ state }: Pick<JobAttempt, "state">): boolean {
  return state === "accepted" || state === "finished" || state === "stored";
}

/** What the attempts of a live job make of its phase. */
export function phaseOf(attempts: readonly Pick<JobAttempt, "state">[]): Exclude<JobPhase, "ended"> {
  if (attempts.some(isBought)) return "rendering";
  return attempts.some(isOpen) ? "submitting" : "waiting";
}

/**
 * The moves of an attempt. A closed attempt moves only when word of it comes late: it is adopted while its job has no
 * other, and cancelled upstream otherwise.
 */
export const ATTEMPT_MOVES: Readonly<Record<AttemptState, readonly AttemptState[]>> = {
  intended: ["unknown", "accepted", "finished", "stored", "settled", "refused", "failed", "abandoned"],
  unknown: ["accepted", "finished", "stored", "settled", "refused", "failed", "abandoned"],
  accepted: ["finished", "stored", "settled", "failed", "abandoned"],
  // A dead link: the provider is asked for a fresh one.
  finished: ["accepted", "stored", "settled", "failed", "abandoned"],
  stored: ["settled", "abandoned"],
  settled: [],
  refused: ["accepted", "finished", "settled", "abandoned"],
  failed: ["accepted", "finished", "settled", "abandoned"],
  abandoned: ["accepted", "finished", "settled"],
};
