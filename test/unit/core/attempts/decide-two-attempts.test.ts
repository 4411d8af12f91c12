import { expect } from "chai";
import { NOON } from "../../../support/builders.js";
import {
  accepts,
  type Case,
  CONFIRMED,
  finishes,
  intends,
  isUnavailable,
  losesFiles,
  polls,
  refusesContent,
  stores,
  testCases,
} from "./decision-cases.js";
import { aFailure, ATTEMPTS, decided, endedJob, HANDLE, IDEMPOTENT, summaryOf } from "./decision-table.js";

const { intended, unknown, accepted, finished, refused, abandoned } = ATTEMPTS;
const elsewhere = { providerId: "other", modelId: "other/v1" };

const CASES: Readonly<Record<string, readonly Case[]>> = {
  "Two attempts at a provider that creates one result per job": [
    {
      title: "an intent that was written although its reply was lost is there already",
      has: [{ ...intended, id: "att_new" }],
      policy: IDEMPOTENT,
      event: intends(1),
      expected: "continue",
    },
    {
      title: "a second attempt may begin while the first is unknown",
      has: [unknown],
      policy: IDEMPOTENT,
      event: intends(2),
      expected: "continue: #2 intended",
    },
    {
      title: "none begins while the first is accepted",
      has: [accepted],
      policy: IDEMPOTENT,
      event: intends(2),
      expected: "done: free, due 0",
    },
    {
      title: "the acceptance of the second closes the unknown first",
      has: [unknown, intended],
      policy: IDEMPOTENT,
      event: accepts(2),
      expected: "done: #2 accepted, abandoned, rendering, free, due 5",
    },
    {
      title: "a late acceptance of the first is the same work",
      has: [unknown, accepted],
      policy: IDEMPOTENT,
      event: accepts(1),
      expected: "done: abandoned, free, due 0",
    },
    {
      title: "a late result of the first is stored, whichever attempt has the work",
      has: [unknown, accepted],
      policy: IDEMPOTENT,
      event: finishes(1),
      expected: "continue",
    },
    {
      title: "files of the first settle the job, and nothing is lost with the second",
      has: [unknown, accepted],
      policy: IDEMPOTENT,
      event: stores(1),
      expected: "done: settled, #2 abandoned, completes",
    },
    {
      title: "a refusal of the second does not end the job when the first is accepted",
      has: [accepted, intended],
      policy: IDEMPOTENT,
      event: refusesContent(2),
      expected: "done: #2 refused, free, due 0",
    },
    {
      title: "the last refusal of the second does not end the job when the first is accepted",
      has: [accepted, intended],
      policy: IDEMPOTENT,
      job: { refusals: 2 },
      event: isUnavailable(2),
      expected: "done: #2 refused, free, due 0",
    },
    {
      title: "the end of the second does not end the job when the first is accepted",
      has: [accepted, { ...accepted, endReportedAt: CONFIRMED }],
      policy: IDEMPOTENT,
      event: polls(2, "gone"),
      expected: "done: #2 failed as provider_failed, free, due 0",
    },
    {
      title: "lost files of the second do not end the job when the first is accepted",
      has: [accepted, { ...finished, endReportedAt: CONFIRMED }],
      policy: IDEMPOTENT,
      event: losesFiles(2),
      expected: "done: #2 failed as files_lost, free, due 0",
    },
    {
      title: "a request that cannot be built again leaves an accepted attempt alone",
      has: [accepted],
      policy: IDEMPOTENT,
      event: { type: "unbuildable", failure: aFailure("failed") },
      expected: "done: free, due 0",
    },
  ],
  "Two attempts elsewhere": [
    {
      title: "no second attempt begins while the first is unknown",
      has: [unknown],
      event: intends(2),
      expected: "done: free, due 0",
    },
    {
      title: "a late acceptance of a refused attempt is cancelled while another is under way",
      has: [refused, intended],
      event: accepts(1),
      expected: "done: abandoned as late and cancelled upstream, free, due 0",
    },
    {
      title: "a late result of a refused attempt is lost while another is under way",
      has: [refused, intended],
      event: finishes(1),
      expected: "done: abandoned as late, free, due 0",
    },
    {
      title: "stored files of a refused attempt settle the job, and the other is lost",
      has: [refused, accepted],
      event: stores(1),
      expected: "done: settled, #2 abandoned as late and cancelled upstream, completes",
    },
    {
      title: "an attempt that is adopted late is not cancelled upstream",
      has: [{ ...abandoned, handle: HANDLE, cancelDueAt: NOON }, refused],
      event: accepts(1),
      expected: "done: accepted, rendering, free, due 5",
    },
    {
      title: "a late acceptance by the provider before is cancelled",
      has: [{ ...refused, ...elsewhere }],
      event: accepts(1),
      expected: "done: abandoned as late and cancelled upstream, free, due 0",
    },
    {
      title: "work at two providers is never the same",
      has: [{ ...refused, ...elsewhere }, accepted],
      policy: IDEMPOTENT,
      event: stores(1),
      expected: "done: settled, #2 abandoned as late and cancelled upstream, completes",
    },
    {
      title: "the job does not go to a fallback, and does not fail, while another attempt may have bought it",
      has: [unknown, intended],
      policy: IDEMPOTENT,
      job: { refusals: 2 },
      event: isUnavailable(2),
      expected: "done: #2 refused, free, due 3, refusals 3",
    },
    {
      title: "the job fails when the grace period of the other attempt is over",
      has: [{ ...unknown, startedAt: NOON - 3_600_000 }, intended],
      policy: IDEMPOTENT,
      job: { refusals: 2 },
      event: isUnavailable(2),
      expected: "done: #2 refused, abandoned as unknown, fails provider_unavailable",
    },
  ],
};

const { settled } = ATTEMPTS;
/** The first was given up, and its acceptance comes once the job has completed with the second. */
const LATE = { has: [abandoned, settled], event: accepts(1) } as const;

describe("decide: two attempts", () => {
  testCases(CASES);

  it("a provider that creates one result per job sold nothing with a late acceptance of the first", () => {
    const before = endedJob(LATE.has);
    expect(summaryOf(before, decided(before, "none", LATE.event, IDEMPOTENT))).to.equal("stale");
  });

  it("another provider sold it twice: the late acceptance is recorded, and cancelled", () => {
    const before = endedJob(LATE.has);
    expect(summaryOf(before, decided(before, "none", LATE.event))).to.equal(
      "stale: abandoned as late and cancelled upstream",
    );
  });
});
