import { expect } from "chai";
import { NOON } from "../../../support/builders.js";
import {
  accepts,
  type Case,
  CONFIRMED,
  finishes,
  isRunning,
  losesFiles,
  polls,
  stores,
  testCases,
} from "./decision-cases.js";
import { A_LINK, ATTEMPTS, decided, IDEMPOTENT, LEASE_MS, liveJob, summaryOf } from "./decision-table.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const { intended, unknown, accepted, finished, stored } = ATTEMPTS;
const behindAKey = { ...finished, result: null };
const overdue = { deadlineAt: NOON, overdueSince: NOON - 10 * MINUTE };

const CASES: Readonly<Record<string, readonly Case[]>> = {
  "Final words are confirmed": [
    {
      title: "gone, asked again for a minute, is believed",
      has: [{ ...accepted, endReportedAt: CONFIRMED }],
      event: polls(1, "gone"),
      expected: "done: failed as provider_failed, fails generation_failed",
    },
    {
      title: "running again ends the doubt",
      has: [{ ...accepted, endReportedAt: CONFIRMED }],
      event: isRunning(1),
      expected: "done: no doubts, free, due 5",
    },
    {
      title: "a dead link is given up after a minute",
      has: [{ ...finished, endReportedAt: CONFIRMED }],
      event: losesFiles(1),
      expected: "done: failed as files_lost, fails generation_failed",
    },
    {
      title: "what another worker stored meanwhile is not lost with a dead link",
      has: [{ ...stored, endReportedAt: CONFIRMED }],
      event: losesFiles(1),
      expected: "done: free, due 0",
    },
  ],
  "A result that is behind a key": [
    {
      title: "is asked for again with a pause while the provider is unavailable",
      has: [behindAKey],
      event: polls(1, "unavailable"),
      expected: "done: trouble noted, free, due 1.5",
    },
    {
      title: "is asked for again with a pause while the provider reports that it renders",
      has: [behindAKey],
      event: isRunning(1),
      expected: "done: free, due 5",
    },
    {
      title: "is doubted when it is gone",
      has: [behindAKey],
      event: polls(1, "gone"),
      expected: "done: doubted, free, due 7.5",
    },
    {
      title: "is given up when it stays gone",
      has: [{ ...behindAKey, endReportedAt: CONFIRMED }],
      event: polls(1, "gone"),
      expected: "done: failed as provider_failed, fails generation_failed",
    },
    {
      title: "is not taken for one in the memory of a worker",
      has: [behindAKey],
      event: { type: "unresolved", number: 1, callbacksRead: [] },
      now: NOON + HOUR - 2 * MINUTE,
      expected: "done: free, due 3480",
    },
  ],
  "Collections of a job's files": [
    {
      title: "that were lost stay counted when the next one begins",
      has: [accepted],
      job: { collectionsBegun: 2 },
      event: { type: "collecting" },
      expected: "continue: begun 3",
    },
    {
      title: "that a stop ends are no lost ones",
      has: [accepted],
      job: { collectionsBegun: 2 },
      event: { type: "released", afterMs: 0, endsCollection: true },
      expected: "done: free, due 0, begun 1",
    },
    {
      title: "that end without files are no lost ones",
      has: [accepted],
      job: { collectionsBegun: 1 },
      event: { type: "files_unavailable", number: 1, failure: null, again: "link", cost: null, endsCollection: true },
      expected: "done: free, due 15, begun 0",
    },
    {
      title: "that failed unexpectedly are no lost ones",
      has: [accepted],
      job: { collectionsBegun: 1 },
      event: { type: "crashed", endsCollection: true },
      expected: "done: free, due 5, crashes 1, begun 0",
    },
    {
      title: "that were lost stay counted while the job is polled, and released",
      has: [accepted],
      job: { collectionsBegun: 1 },
      event: { type: "released", afterMs: 0, endsCollection: false },
      expected: "done: free, due 0",
    },
  ],
  "Jobs suspected of their lost workers": [
    {
      title: "end when nothing is bought",
      has: [],
      job: { crashes: 4 },
      event: { type: "suspected", wasLost: true },
      expected: "done: fails generation_failed",
    },
    {
      title: "end when nothing is bought, whether the last worker was lost or failed",
      has: [],
      job: { crashes: 4 },
      event: { type: "suspected", wasLost: false },
      expected: "done: fails generation_failed",
    },
    {
      title: "are left alone for a minute when an attempt is intended",
      has: [intended],
      job: { crashes: 4 },
      event: { type: "suspected", wasLost: true },
      expected: "done: free, due 60",
    },
    {
      title: "are left alone for a minute when an attempt is unknown",
      has: [unknown],
      job: { crashes: 4 },
      event: { type: "suspected", wasLost: true },
      expected: "done: free, due 60",
    },
    {
      title: "are left alone for a minute when an attempt is accepted",
      has: [accepted],
      job: { crashes: 4 },
      event: { type: "suspected", wasLost: true },
      expected: "done: free, due 60",
    },
    {
      title: "are left alone for a minute when an attempt is finished",
      has: [finished],
      job: { crashes: 4 },
      event: { type: "suspected", wasLost: true },
      expected: "done: free, due 60",
    },
    {
      title: "are left alone for a minute when an attempt is stored",
      has: [stored],
      job: { crashes: 4 },
      event: { type: "suspected", wasLost: true },
      expected: "done: free, due 60",
    },
    {
      title: "end when the grace period of the first repeated call is over",
      has: [unknown, intended],
      policy: IDEMPOTENT,
      job: { crashes: 5 },
      event: { type: "suspected", wasLost: false },
      now: NOON + HOUR,
      expected: "done: abandoned as unknown, #2 abandoned as unknown, fails generation_failed",
    },
    {
      title: "repeat the call once more before that",
      has: [unknown, intended],
      policy: IDEMPOTENT,
      job: { crashes: 4 },
      event: { type: "suspected", wasLost: false },
      now: NOON + HOUR,
      expected: "continue",
    },
    {
      title: "are left alone within the grace period",
      has: [unknown, intended],
      policy: IDEMPOTENT,
      job: { crashes: 5 },
      event: { type: "suspected", wasLost: true },
      expected: "done: free, due 120",
    },
    {
      title: "are left alone for twice as long after each further worker",
      has: [accepted],
      job: { crashes: 6 },
      event: { type: "suspected", wasLost: true },
      expected: "done: free, due 240",
    },
    {
      title: "are left alone for ten minutes at most",
      has: [accepted],
      job: { crashes: 60 },
      event: { type: "suspected", wasLost: true },
      expected: "done: free, due 600",
    },
    {
      title: "are gone on with after that",
      has: [accepted],
      job: { crashes: 60 },
      event: { type: "suspected", wasLost: false },
      expected: "continue",
    },
    {
      title: "are gone on with up to three of them",
      has: [accepted],
      job: { crashes: 3 },
      event: { type: "suspected", wasLost: true },
      expected: "continue",
    },
  ],
  "Attempts past their deadline": [
    {
      title: "become due for a last poll",
      has: [accepted],
      held: "none",
      job: { dueAt: NOON + 2 * HOUR },
      now: NOON + HOUR,
      event: { type: "deadline" },
      expected: "done: overdue, due 3600, notify",
    },
    {
      title: "are given up when no worker asked for ten minutes",
      has: [{ ...accepted, ...overdue }],
      held: "none",
      event: { type: "deadline" },
      expected: "done: abandoned as deadline and cancelled upstream, fails provider_timeout",
    },
    {
      title: "are left to a worker that is at it",
      has: [{ ...accepted, ...overdue }],
      held: "another",
      event: { type: "deadline" },
      expected: "stale",
    },
    {
      title: "are not left to a worker whose lease has run out",
      has: [{ ...accepted, ...overdue }],
      held: "another",
      now: NOON + LEASE_MS,
      event: { type: "deadline" },
      expected: "done: abandoned as deadline and cancelled upstream, fails provider_timeout",
    },
    {
      title: "are given up when the last poll fails for ten minutes",
      has: [{ ...accepted, ...overdue }],
      event: polls(1, "unavailable"),
      expected: "done: abandoned as deadline and cancelled upstream, fails provider_timeout",
    },
    {
      title: "are lost with their files when those cannot be fetched for ten minutes",
      has: [{ ...finished, ...overdue }],
      held: "none",
      event: { type: "deadline" },
      expected: "done: abandoned as files_lost, fails provider_timeout",
    },
    {
      title: "with an unknown outcome end as never heard of",
      has: [{ ...unknown, ...overdue }],
      held: "none",
      event: { type: "deadline" },
      expected: "done: abandoned as unknown, fails provider_timeout",
    },
  ],
};

describe("decide: situations", () => {
  testCases(CASES);

  it("a result without a link does not replace the link that is known", () => {
    const before = liveJob([finished], "reporter");
    const { attempts } = decided(before, "reporter", { type: "finished", number: 1, result: null, cost: null });
    expect(attempts[0]?.changes.result).to.deep.equal(A_LINK);
  });

  it("a link that is dead soon after a doubted rendering is asked for again", () => {
    const [before, event] = [liveJob([{ ...accepted, endReportedAt: CONFIRMED }], "reporter"), finishes(1)];
    expect(decided(before, "reporter", event).attempts[0]?.changes.endReportedAt).to.equal(null);
    const again = liveJob([{ ...accepted, finishedAt: NOON - 1, endReportedAt: CONFIRMED }], "reporter");
    expect(decided(again, "reporter", event).attempts[0]?.changes.endReportedAt).to.equal(CONFIRMED);
  });

  it("a late acceptance of a settled attempt changes nothing, even of a job that is recorded as alive", () => {
    for (const event of [accepts(1), finishes(1), stores(1)]) {
      const before = liveJob([ATTEMPTS.settled], "reporter");
      expect(summaryOf(before, decided(before, "reporter", event))).to.equal("stale");
    }
  });
});
