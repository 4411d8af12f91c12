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
  const after = written(before, transition);
  const moves = movesOf(before, transition);
  for (const move of moves) {
    expect(ATTEMPT_MOVES[move.before.state], `moves from ${move.before.state}`).to.include(move.after.state);
  }
  expectJobMoves(before, transition, after);
  expectMoments(transition, after);
  for (const move of moves) expectLossNamed(move, after, policy);
  const settled = before.attempts.filter(({ state }) => state === "settled").map(({ number }) => number);
  const changed = transition.attempts.filter(({ number }) => settled.includes(number));
  expect(changed, "changes of a settled attempt").to.deep.equal([]);
}

function expectJobMoves(before: JobAndAttempts, transition: Transition, { job, attempts }: JobAndAttempts): void {
  const { job: changes, ending } = transition;
  if (isFinal(before.job.status)) {
    expect([ending, changes], "an ended job").to.deep.equal([null, {}]);
    return;
  }
  const status = changes.status ?? before.job.status;
  if (status !== before.job.status) assertMove({ ...before.job, phase: job.phase }, status);
  if (ending !== null) {
    assertMove({ status, phase: before.job.phase }, ending.status);
    const settled = attempts.filter(({ state }) => state === "settled");
    expect([attempts.filter(isOpen), settled.length]).to.deep.equal([[], ending.status === "completed" ? 1 : 0]);
    return;
  }
  expect(job.phase, "the phase").to.equal(phaseOf(attempts));
  if (job.cancelRequestedAt !== null) expect(attempts.some(isOpen), "something is bought").to.equal(true);
  expect(
    attempts.filter(({ state }) => state === "settled"),
    "settled attempts of a live job",
  ).to.deep.equal([]);
}

/** A live job is always due at some moment, and an open attempt always has a deadline. */
function expectMoments({ job: changes }: Transition, { job, attempts }: JobAndAttempts): void {
  const moments = [changes.dueAt ?? 0, ...attempts.map(({ deadlineAt }) => deadlineAt ?? 0)];
  expect(
    moments.filter((moment) => !Number.isSafeInteger(moment)),
    "moments",
  ).to.deep.equal([]);
  if (!isFinal(job.status)) expect(job.dueAt, "when the job is due").to.be.a("number");
  const open = attempts.filter(isOpen);
  expect(
    open.filter(({ deadlineAt }) => deadlineAt === null),
    "open attempts without a deadline",
  ).to.deep.equal([]);
}

/** What is bought and closed has delivered the job, has a loss, or is the same work as another attempt. */
function expectLossNamed(move: AttemptMove, { job, attempts }: JobAndAttempts, policy: ExecutionPolicy): void {
  const { before, after } = move;
  if (!isBought(before) || isOpen(after) || after.state === "settled" || after.loss !== null) return;
  const isSame = policy.capabilities.idempotentSubmit && job.providerId === before.providerId;
  const others = attempts.filter((other) => other.number !== before.number && other.providerId === before.providerId);
  const isElsewhere = others.some((other) => isBought(other) || other.state === "settled");
  expect(isSame && isElsewhere, "has a loss, or is the same work").to.equal(true);
}
