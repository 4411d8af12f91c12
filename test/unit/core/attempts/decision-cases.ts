import { expect } from "chai";
import type { ExecutionEvent } from "../../../../core/attempts/events.js";
import type { ExecutionPolicy } from "../../../../core/attempts/policy.js";
import type { JobAttempt, JobState } from "../../../../core/jobs/job.js";
import { NOON } from "../../../support/builders.js";
import {
  A_LINK,
  A_ROUTE,
  aFailure,
  ATTEMPTS,
  decided,
  HANDLE,
  type LeaseHeld,
  liveJob,
  summaryOf,
} from "./decision-table.js";

const MINUTE = 60_000;
/** Since when a final word is doubted that is believed at noon. */
export const CONFIRMED = NOON - MINUTE;

/** What an event makes of a job with these attempts; the reporter has its lease unless the case says otherwise. */
export interface Case {
  readonly title: string;
  readonly has: readonly Partial<JobAttempt>[];
  readonly event: ExecutionEvent;
  readonly policy?: ExecutionPolicy;
  readonly held?: LeaseHeld;
  readonly job?: Partial<JobState>;
  readonly now?: number;
  readonly expected: string;
}

export const accepts = (number: number): ExecutionEvent => ({
  type: "accepted",
  number,
  handle: HANDLE,
  nextPollMs: 5_000,
});
export const finishes = (number: number): ExecutionEvent => ({ type: "finished", number, result: A_LINK, cost: null });
export const stores = (number: number): ExecutionEvent => ({
  type: "files_stored",
  number,
  files: ATTEMPTS.stored.files,
  cost: null,
});
export const intends = (number: number): ExecutionEvent => ({
  type: "intended",
  attemptId: "att_new",
  number,
  callEndsAt: NOON + MINUTE,
  usualRenderMs: null,
});
export const isRunning = (number: number): ExecutionEvent => ({
  type: "running",
  number,
  nextPollMs: 5_000,
  handle: null,
  callbacksRead: [],
});
export const isUnknown = (number: number): ExecutionEvent => ({
  type: "submission_failed",
  number,
  failure: aFailure("outcome_unknown"),
  fallback: null,
  isAborted: false,
});
export const refusesContent = (number: number): ExecutionEvent => ({
  type: "submission_failed",
  number,
  failure: aFailure("content_rejected"),
  fallback: null,
  isAborted: false,
});
export const isUnavailable = (number: number): ExecutionEvent => ({
  type: "submission_failed",
  number,
  failure: aFailure("unavailable"),
  fallback: A_ROUTE,
  isAborted: false,
});
export const polls = (number: number, kind: "gone" | "unavailable"): ExecutionEvent => ({
  type: "poll_failed",
  number,
  failure: aFailure(kind),
  source: "poll",
  callbacksRead: [],
});
export const losesFiles = (number: number): ExecutionEvent => ({
  type: "files_unavailable",
  number,
  failure: aFailure("gone"),
  again: "link",
  cost: null,
});

/** Tests each case, by the title of its group. */
export function testCases(groups: Readonly<Record<string, readonly Case[]>>): void {
  for (const [title, cases] of Object.entries(groups)) {
    describe(title, () => {
      for (const { title: promise, has, event, policy, held = "reporter", job, now, expected } of cases) {
        it(promise, () => {
          const before = liveJob(has, held, job);
          expect(summaryOf(before, decided(before, held, event, policy, now))).to.equal(expected);
        });
      }
    });
  }
}
