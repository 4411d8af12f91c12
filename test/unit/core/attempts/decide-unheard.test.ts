import { NOON } from "../../../support/builders.js";
import { type Case, isRunning, isUnknown, testCases } from "./decision-cases.js";
import { A_ROUTE, ATTEMPTS, IDEMPOTENT, WITH_LOOKUP } from "./decision-table.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const { intended, unknown } = ATTEMPTS;
const overdue = { deadlineAt: NOON, overdueSince: NOON - 10 * MINUTE };

const CASES: Readonly<Record<string, readonly Case[]>> = {
  "A submission with an unknown outcome": [
    {
      title: "that a signed callback proved accepted is not believed absent",
      has: [{ ...unknown, acceptedAt: NOON - 1 }],
      policy: WITH_LOOKUP,
      event: { type: "absent", number: 1, fallback: null },
      expected: "done: free, due 1.5",
    },
    {
      title: "that is running past its grace has the time of a render",
      has: [{ ...unknown, ...overdue }],
      event: isRunning(1),
      expected: "done: unknown, free, due 3600",
    },
    {
      title: "is repeated while the first call may still be heard of, each time after a longer pause",
      has: [unknown, unknown, unknown, intended],
      policy: IDEMPOTENT,
      event: isUnknown(4),
      expected: "done: #4 unknown, free, due 6",
    },
    {
      title: "is repeated some times even when the first call's grace period is over",
      has: [{ ...unknown, startedAt: NOON - HOUR }, unknown, intended],
      policy: IDEMPOTENT,
      event: isUnknown(3),
      expected: "done: #3 unknown, free, due 3",
    },
    {
      title: "ends the job when it was repeated in vain and the first call's grace period is over",
      has: [unknown, unknown, unknown, intended].map((state) => ({ ...state, startedAt: NOON - HOUR })),
      policy: IDEMPOTENT,
      event: isUnknown(4),
      expected:
        "done: #4 abandoned as unknown, abandoned as unknown, #2 abandoned as unknown, #3 abandoned as unknown, " +
        "fails provider_timeout",
    },
    {
      title: "does not end the job after lost workers",
      has: [intended],
      policy: IDEMPOTENT,
      job: { crashes: 3 },
      event: isUnknown(1),
      expected: "done: unknown, free, due 0.75",
    },
    {
      title: "ends the job when look-ups have found none of its calls",
      has: [unknown],
      policy: WITH_LOOKUP,
      job: { refusals: 3 },
      event: { type: "absent", number: 1, fallback: null },
      expected: "done: refused, fails provider_unavailable",
    },
    {
      title: "goes to a fallback when look-ups have found none of its calls",
      has: [unknown],
      policy: WITH_LOOKUP,
      job: { refusals: 3 },
      event: { type: "absent", number: 1, fallback: A_ROUTE },
      expected: "done: refused, waiting, queued, free, due 0, refusals 0, to other, notify",
    },
    {
      title: "whose worker was lost, and that a look-up does not find, is no refusal of the provider",
      has: [{ ...intended, startedAt: NOON - HOUR, callEndsAt: NOON - HOUR }],
      policy: WITH_LOOKUP,
      job: { refusals: 3 },
      event: { type: "absent", number: 1, fallback: null },
      expected: "done: refused, waiting, queued, free, due 0",
    },
  ],
};

describe("decide: calls without a reply", () => {
  testCases(CASES);
});
