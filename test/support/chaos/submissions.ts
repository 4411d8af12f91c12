import { expect } from "chai";
import type { Submission } from "../plugins/recording/call-recording.js";
import type { AttemptRow, JobRow, Rows } from "./rows.js";

/** What is known of attempts by comparing the rows with the calls that the provider recorded. */
export interface SubmissionCounts {
  readonly submissions: number;
  /** Attempts whose outcome never became known, whether they reached the provider or not. */
  readonly unknown: number;
  /** Jobs that were submitted again after such an attempt, where the provider makes nothing twice. */
  readonly repeated: number;
}

/** Refused for now: nothing was accepted, and another try is in order. */
const REFUSALS: readonly (string | null)[] = ["unavailable", "timeout"];
const UNKNOWN: readonly (string | null)[] = [null, "outcome_unknown"];

/** No job reached the provider twice, unless the first time was refused, or nothing is known of it and the provider makes nothing twice. */
export function checkSubmissions(rows: Rows, submissions: readonly Submission[]): SubmissionCounts {
  const attempts = new Map(rows.attempts.map((attempt) => [attempt.id, attempt]));
  expect(new Set(submissions.map(({ attemptId }) => attemptId)).size, "submissions of different attempts").to.equal(
    submissions.length,
  );
  for (const submission of submissions) {
    const { jobId, attemptId, providerId } = submission;
    expect(attempts.get(attemptId), `announced before ${JSON.stringify(submission)}`).to.include({
      job_id: jobId,
      provider_id: providerId,
    });
  }
  const submitted = new Set(submissions.map(({ attemptId }) => attemptId));
  let repeated = 0;
  for (const job of rows.jobs) {
    const own = rows.attempts.filter(({ job_id }) => job_id === job.id);
    for (const { id, outcome } of own) {
      // A worker that is held up before the call does not make it.
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

/** @returns whether the job was submitted again without knowing what became of it before */
function checkRepetitions(job: JobRow, submitted: readonly AttemptRow[]): boolean {
  const before = submitted.slice(0, -1).map(({ outcome }) => outcome);
  // What came of a call may be learnt after it was repeated; where it buys nothing new, it may be anything.
  const mayRepeat = job.provider_id === "recording-idempotent";
  const others = mayRepeat ? [] : before.filter((outcome) => !REFUSALS.includes(outcome));
  expect(others, `outcomes before ${job.id} of ${job.provider_id} was submitted again`).to.deep.equal([]);
  return before.some((outcome) => UNKNOWN.includes(outcome));
}

/** Where nobody can find out, nothing follows an attempt that is unknown, and it costs nothing. */
function checkUnknowns(job: JobRow, attempts: readonly AttemptRow[]): void {
  const unknown = attempts.find(({ outcome }) => UNKNOWN.includes(outcome));
  if (unknown === undefined) return;
  expect(unknown.number, `the last attempt of ${job.id}`).to.equal(job.attempt);
  expect(job, job.id).to.include({ status: "failed", credits_charged: 0 });
}
