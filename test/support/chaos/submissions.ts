import { expect } from "chai";
import type { Submission } from "../plugins/recording/call-recording.js";
import type { AttemptRow, JobRow, Rows } from "./rows.js";

/** Counts of attempts, from the rows and the calls that the provider recorded. */
export interface SubmissionCounts {
  readonly submissions: number;
  /** Attempts whose outcome never became known, whether they reached the provider or not. */
  readonly unknown: number;
  /** Jobs that were submitted again after such an attempt, at a provider with idempotent submit. */
  readonly repeated: number;
}

/** Temporary refusals: nothing was accepted, and another attempt is correct. */
const REFUSALS: readonly (string | null)[] = ["unavailable", "timeout"];
const UNKNOWN: readonly (string | null)[] = [null, "outcome_unknown"];

/**
 * No job reached the provider twice, unless the first attempt was refused, or its outcome is unknown and submit is
 * idempotent.
 */
export function checkSubmissions(rows: Rows, submissions: readonly Submission[]): SubmissionCounts {
  const attempts = new Map(rows.attempts.map((attempt) => [attempt.id, attempt]));
  expect(new Set(submissions.map(({ attemptId }) => attemptId)).size, "submissions of different attempts").to.equal(
    submissions.length,
  );
  for (const submission of submissions) {
    const { jobId, attemptId, providerId } = submission;
    expect(attempts.get(attemptId), `intent recorded before ${JSON.stringify(submission)}`).to.include({
      job_id: jobId,
      provider_id: providerId,
    });
  }
  const submitted = new Set(submissions.map(({ attemptId }) => attemptId));
  let repeated = 0;
  for (const job of rows.jobs) {
    const own = rows.attempts.filter(({ job_id }) => job_id === job.id);
    for (const { id, outcome } of own) {
      // A worker that is delayed before the call does not make it.
      if (![...UNKNOWN, ...REFUSALS].includes(outcome)) expect(submitted, `${outcome} of ${id}`).to.include(id);
    }
    if (
      checkRepetitions(
        job,
        own.filter(({ id }) => submitted.has(id)),
      )
    )
      repeated += 1;
    if (job.provider_id === "recording") checkUnknowns(job, own);
  }
  return {
    submissions: submissions.length,
    unknown: rows.attempts.filter(({ outcome }) => UNKNOWN.includes(outcome)).length,
    repeated,
  };
}

/** @returns whether the job was submitted again after an attempt with an unknown outcome */
function checkRepetitions(job: JobRow, submitted: readonly AttemptRow[]): boolean {
  const before = submitted.slice(0, -1).map(({ outcome }) => outcome);
  // The outcome of a call may become known after it was repeated; with an idempotent submit any outcome is allowed.
  const mayRepeat = job.provider_id === "recording-idempotent";
  const others = mayRepeat ? [] : before.filter((outcome) => !REFUSALS.includes(outcome));
  expect(others, `outcomes before ${job.id} of ${job.provider_id} was submitted again`).to.deep.equal([]);
  return before.some((outcome) => UNKNOWN.includes(outcome));
}

/** At a provider without lookup, no attempt follows one with an unknown outcome, and it costs nothing. */
function checkUnknowns(job: JobRow, attempts: readonly AttemptRow[]): void {
  const unknown = attempts.find(({ outcome }) => UNKNOWN.includes(outcome));
  if (unknown === undefined) return;
  expect(unknown.number, `the last attempt of ${job.id}`).to.equal(job.attempt);
  expect(job, job.id).to.include({ status: "failed", credits_charged: 0 });
}
