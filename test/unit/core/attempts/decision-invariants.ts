import { expect } from "chai";
import { ATTEMPT_MOVES, isBought, isOpen, phaseOf } from "../../../../core/attempts/attempt-states.js";
import { attemptsAfter, jobAfter, type Transition } from "../../../../core/attempts/transition.js";
import type { ExecutionPolicy } from "../../../../core/attempts/policy.js";
import { assertMove, isFinal, type JobAttempt, type JobState } from "../../../../core/jobs/job.js";

export interface JobAndAttempts {
  readonly job: JobState;
  readonly attempts: readonly JobAttempt[];
}

export interface AttemptMove {
  readonly before: JobAttempt;
  readonly after: JobAttempt;
}

/** The job and its attempts once the transition is written. */
export function written({ job, attempts }: JobAndAttempts, transition: Transition): JobAndAttempts {
  return { job: jobAfter(job, transition, "rpt_1"), attempts: attemptsAfter(attempts, transition) };
}

/** The attempts whose state a transition changes. */
export function movesOf({ attempts }: JobAndAttempts, transition: Transition): AttemptMove[] {
  const after = attemptsAfter(attempts, transition);
  return attempts.flatMap((before, index) => {
    const moved = after[index];
    return moved === undefined || moved.state === before.state ? [] : [{ before, after: moved }];
  });
}

/** What holds for every decision, whatever was reported. */
export function expectSound(before: JobAndAttempts, transition: Transition, policy: ExecutionPolicy): void {
  // One assertion for all: a property makes tens of thousands of decisions.
  for (const violation of violationsOf(before, transition, policy)) expect.fail(violation);
}

function* violationsOf(
  before: JobAndAttempts,
  transition: Transition,
  policy: ExecutionPolicy,
): Generator<string, void, undefined> {
  const after = written(before, transition);
  const moves = movesOf(before, transition);
  for (const move of moves) {
    const { state } = move.before;
    if (!(ATTEMPT_MOVES[state] as readonly string[]).includes(move.after.state))
      yield `an attempt moves from ${state} to ${move.after.state}`;
  }
  yield* wrongJobMoves(before, transition, after);
  yield* wrongMoments(transition, after);
  for (const move of moves) if (!hasLossNamed(move, after, policy)) yield "neither has a loss, nor is the same work";
  const settled = before.attempts.filter(({ state }) => state === "settled").map(({ number }) => number);
  if (transition.attempts.some(({ number }) => settled.includes(number))) yield "a settled attempt changes";
}

function* wrongJobMoves(
  before: JobAndAttempts,
  transition: Transition,
  { job, attempts }: JobAndAttempts,
): Generator<string, void, undefined> {
  const { job: changes, ending } = transition;
  if (isFinal(before.job.status)) {
    if (ending !== null || Object.keys(changes).length > 0) yield `an ended job changes: ${JSON.stringify(transition)}`;
    return;
  }
  const status = changes.status ?? before.job.status;
  if (status !== before.job.status) assertMove({ ...before.job, phase: job.phase }, status);
  const settled = attempts.filter(({ state }) => state === "settled").length;
  const open = attempts.filter(isOpen);
  if (ending !== null) {
    assertMove({ status, phase: before.job.phase }, ending.status);
    if (open.length > 0) yield `a job that ends has ${open.length} open attempts`;
    if (settled !== (ending.status === "completed" ? 1 : 0))
      yield `a job that ${ending.status} has ${settled} settled attempts`;
    return;
  }
  if (job.phase !== phaseOf(attempts)) yield `the phase is ${job.phase}, and of the attempts ${phaseOf(attempts)}`;
  if (job.cancelRequestedAt !== null && open.length === 0) yield "a cancelled job has nothing bought, and lives";
  if (settled > 0) yield `a live job has ${settled} settled attempts`;
}

/** A live job is always due at some moment, and an open attempt always has a deadline. */
function* wrongMoments(
  { job: changes }: Transition,
  { job, attempts }: JobAndAttempts,
): Generator<string, void, undefined> {
  const moments = [changes.dueAt ?? 0, ...attempts.map(({ deadlineAt }) => deadlineAt ?? 0)];
  if (!moments.every(Number.isSafeInteger)) yield `a moment is none: ${moments.join(", ")}`;
  if (!isFinal(job.status) && typeof job.dueAt !== "number") yield "a live job is never due";
  if (attempts.some((attempt) => isOpen(attempt) && attempt.deadlineAt === null))
    yield "an open attempt has no deadline";
}

/** What is bought and closed has delivered the job, has a loss, or is the same work as another attempt. */
function hasLossNamed(move: AttemptMove, { job, attempts }: JobAndAttempts, policy: ExecutionPolicy): boolean {
  const { before, after } = move;
  if (!isBought(before) || isOpen(after) || after.state === "settled" || after.loss !== null) return true;
  const isSame = policy.capabilities.idempotentSubmit && job.providerId === before.providerId;
  const others = attempts.filter((other) => other.number !== before.number && other.providerId === before.providerId);
  const isElsewhere = others.some((other) => isBought(other) || other.state === "settled");
  return isSame && isElsewhere;
}
