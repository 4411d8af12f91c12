import type { AttemptState, JobAttempt, JobPhase } from "../jobs/job.js";

/** Whether an attempt is open: the work that it bought, or may have bought, can still complete the job. */
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

/** Whether the provider is known to have accepted the attempt. */
export function isBought({ state }: Pick<JobAttempt, "state">): boolean {
  return state === "accepted" || state === "finished" || state === "stored";
}

/** The phase of a live job, which follows from its attempts. */
export function phaseOf(attempts: readonly Pick<JobAttempt, "state">[]): Exclude<JobPhase, "ended"> {
  if (attempts.some(isBought)) return "rendering";
  return attempts.some(isOpen) ? "submitting" : "waiting";
}

/**
 * The moves of an attempt. A closed attempt moves only on a late report: the job adopts it while no other attempt is
 * open; otherwise it is cancelled at the provider.
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
