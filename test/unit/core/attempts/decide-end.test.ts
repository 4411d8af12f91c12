import { NOON } from "../../../support/builders.js";
import { A_POLICY } from "../../../support/reports.js";
import {
  byHolder,
  type DecisionTable,
  ENDED,
  endedJob,
  EVENTS,
  LIVE,
  liveJob,
  statesOf,
  testTables,
} from "./decision-table.js";

const HOUR = 3_600_000;

const TABLES: readonly DecisionTable[] = [
  {
    title: "The job is suspected of its lost workers",
    event: { type: "suspected", wasLost: true },
    expected: {
      others: byHolder("continue"),
    },
  },
  {
    title: "A step failed unexpectedly",
    event: { type: "crashed" },
    expected: {
      "none, refused, failed, abandoned": byHolder("done: queued, free, due 5, crashes 1"),
      others: byHolder("done: free, due 5, crashes 1"),
    },
  },
  {
    title: "A worker begins to collect the provider's files",
    event: { type: "collecting" },
    expected: { others: byHolder("continue: begun 1") },
  },
  {
    title: "A worker releases the job",
    event: { type: "released", afterMs: 5_000 },
    expected: {
      "none, refused, failed, abandoned": byHolder("done: queued, free, due 5"),
      others: byHolder("done: free, due 5"),
    },
  },
  {
    title: "An operator cancels the job",
    event: { type: "cancelled" },
    expected: {
      "none, refused, failed, abandoned": "done: fails generation_failed",
      accepted: "done: abandoned as cancelled and cancelled upstream, fails generation_failed",
      others: "done: abandoned as cancelled, fails generation_failed",
    },
  },
  {
    title: "A job is wanted no more",
    event: { type: "cancel_requested" },
    expected: {
      "none, refused, failed, abandoned": "done: fails generation_failed",
      accepted: "done: asked to cancel, wanted no more, notify",
      others: "done: wanted no more",
    },
  },
  {
    title: "A job is wanted no more whose provider cannot cancel",
    event: { type: "cancel_requested" },
    policy: A_POLICY,
    expected: {
      "none, refused, failed, abandoned": "done: fails generation_failed",
      others: "done: wanted no more",
    },
  },
  {
    title: "The provider confirms the cancellation",
    event: { type: "cancel_reported", number: 1, outcome: "cancelled" },
    expected: { accepted: "done: abandoned as cancelled, fails generation_failed", others: "stale" },
  },
  {
    title: "The provider only takes the request to cancel",
    event: { type: "cancel_reported", number: 1, outcome: "requested" },
    expected: {
      accepted: [
        "done: not asked again to cancel, notify",
        "done: not asked again to cancel, notify",
        "done: not asked again to cancel, due 0, notify",
      ],
      others: "stale",
    },
  },
  {
    title: "The provider is asked too late to cancel",
    event: { type: "cancel_reported", number: 1, outcome: "too_late" },
    expected: { accepted: "done: not asked again to cancel", others: "stale" },
  },
  {
    title: "A deadline is checked in time",
    event: { type: "deadline" },
    expected: {
      others: "stale",
    },
  },
  {
    title: "The deadlines are over",
    event: { type: "deadline" },
    now: NOON + HOUR,
    expected: {
      "none, refused, failed, abandoned": "done: fails provider_unavailable",
      others: "done: overdue, notify",
    },
  },
];

/** Word of what an ended job has bought is recorded; nothing else changes. */
const RECORDED: Readonly<Record<string, DecisionTable["expected"]>> = {
  accepted: {
    "none, settled": "stale",
    "refused, abandoned": "stale: abandoned as late and cancelled upstream",
    failed: "stale: abandoned as provider_failed and cancelled upstream",
  },
  finished: {
    "none, settled": "stale",
    "refused, abandoned": "stale: abandoned as late",
    failed: "stale: abandoned as provider_failed",
  },
  files_stored: {
    "none, settled": "stale",
    "refused, abandoned": "stale: abandoned as late",
    failed: "stale: abandoned as provider_failed",
  },
};

describe("decide: reports on jobs that have ended", () => {
  const tables = Object.values(EVENTS).map((event) => ({
    title: event.type,
    event,
    expected: RECORDED[event.type] ?? { others: "stale" },
  }));
  testTables(tables, ENDED, (has) => endedJob(statesOf(has)));
});

describe("decide: workers, operators and deadlines", () => {
  testTables(TABLES, LIVE, (has, held) => liveJob(statesOf(has), held));
});
