import type { SubmissionEvent } from "../../../../core/attempts/events.js";
import type { ProviderFailureKind } from "../../../../core/ports/music-provider.js";
import type { Route } from "../../../../core/providers/routes.js";
import { NOON } from "../../../support/builders.js";
import {
  A_ROUTE,
  aFailure,
  byHolder,
  type DecisionTable,
  EVENTS,
  HANDLE,
  LIVE,
  liveJob,
  statesOf,
  testTables,
  WITH_LOOKUP,
} from "./decision-table.js";

const HOUR = 3_600_000;

type FailedSubmission = Extract<SubmissionEvent, { type: "submission_failed" }>;

function failed(kind: ProviderFailureKind, fallback: Route | null = null): FailedSubmission {
  return { type: "submission_failed", number: 1, failure: aFailure(kind), fallback, isAborted: false };
}

const TABLES: readonly DecisionTable[] = [
  {
    title: "A worker records an intent",
    event: EVENTS.intended,
    expected: {
      "none, refused, failed, abandoned": byHolder("continue: #2 intended, submitting"),
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "A worker records an intent after the queue's deadline",
    event: EVENTS.intended,
    now: NOON + HOUR,
    expected: {
      "none, refused, failed, abandoned": byHolder("done: fails provider_unavailable"),
      others: byHolder("done: free, due 3600"),
    },
  },
  {
    title: "A worker records an intent for a model that renders longer than its deadline",
    event: { ...EVENTS.intended, usualRenderMs: HOUR + 1 },
    expected: {
      "none, refused, failed, abandoned": byHolder("done: fails provider_unavailable"),
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "The provider was not called",
    event: { type: "not_called", number: 1, message: "The process stops." },
    expected: {
      intended: [
        "done: refused, waiting, queued, free, due 0",
        "done: refused, waiting, queued",
        "done: refused, waiting, queued, due 0",
      ],
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "The provider accepted it",
    event: { type: "accepted", number: 1, handle: HANDLE, nextPollMs: 5_000 },
    expected: {
      none: "stale",
      "intended, unknown": [
        "done: accepted, rendering, free, due 5",
        "done: accepted, rendering",
        "done: accepted, rendering, due 5",
      ],
      "accepted, finished, in memory, stored": ["done: free, due 0", "done", "done: due 0"],
      "refused, failed, abandoned": [
        "done: accepted, rendering, free, due 5",
        "done: accepted, rendering",
        "done: accepted, rendering, processing, due 5",
      ],
    },
  },
  {
    title: "The provider accepted it, and names no moment for the first poll",
    event: { type: "accepted", number: 1, handle: HANDLE, nextPollMs: Number.NaN },
    expected: {
      none: "stale",
      "intended, unknown": [
        "done: accepted, rendering, free, due 2",
        "done: accepted, rendering",
        "done: accepted, rendering, due 2",
      ],
      "accepted, finished, in memory, stored": ["done: free, due 0", "done", "done: due 0"],
      "refused, failed, abandoned": [
        "done: accepted, rendering, free, due 2",
        "done: accepted, rendering",
        "done: accepted, rendering, processing, due 2",
      ],
    },
  },
  {
    title: "Whether the provider accepted it is unknown",
    event: failed("outcome_unknown"),
    expected: {
      "intended, unknown": ["done: unknown, free, due 540", "done: unknown", "done: unknown, due 540"],
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "Whether the provider accepted it is unknown, and can be looked up",
    event: failed("outcome_unknown"),
    policy: WITH_LOOKUP,
    expected: {
      "intended, unknown": ["done: unknown, free, due 0.75", "done: unknown", "done: unknown, due 0.75"],
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "A stop aborted the call",
    event: { ...failed("outcome_unknown"), isAborted: true },
    expected: {
      "intended, unknown": ["done: unknown, free, due 0", "done: unknown", "done: unknown, due 0"],
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "The provider was unavailable",
    event: failed("unavailable"),
    expected: {
      "intended, unknown": [
        "done: refused, waiting, queued, free, due 0.75, refusals 1",
        "done: refused, waiting, queued",
        "done: refused, waiting, queued, due 0.75, refusals 1",
      ],
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "The provider is rate limited",
    event: failed("rate_limited"),
    expected: {
      "intended, unknown": [
        "done: refused, waiting, queued, free, due 0.75",
        "done: refused, waiting, queued",
        "done: refused, waiting, queued, due 0.75",
      ],
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "The provider refused the content",
    event: failed("content_rejected"),
    expected: {
      "intended, unknown": "done: refused, fails invalid_request",
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "The provider failed",
    event: failed("failed"),
    expected: {
      "intended, unknown": "done: failed as provider_failed, fails generation_failed",
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "The work ran out of time at the provider",
    event: failed("timeout"),
    expected: {
      "intended, unknown": [
        "done: failed as provider_failed, waiting, queued, free, due 0.75, refusals 1",
        "done: failed as provider_failed, waiting, queued",
        "done: failed as provider_failed, waiting, queued, due 0.75, refusals 1",
      ],
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "The provider needs its operator, and there is a fallback",
    event: failed("misconfigured", A_ROUTE),
    expected: {
      "intended, unknown": [
        "done: refused, waiting, queued, free, due 0, to other, notify",
        "done: refused, waiting, queued",
        "done: refused, waiting, queued, due 0, to other, notify",
      ],
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "The provider has not got the model any more, and there is a fallback",
    event: failed("model_unavailable", A_ROUTE),
    expected: {
      "intended, unknown": [
        "done: refused, waiting, queued, free, due 0, to other, notify",
        "done: refused, waiting, queued",
        "done: refused, waiting, queued, due 0, to other, notify",
      ],
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "A look-up does not find it",
    event: { type: "absent", number: 1, fallback: null },
    policy: WITH_LOOKUP,
    expected: {
      intended: byHolder("done: free, due 60"),
      unknown: byHolder("done: refused, waiting, queued, free, due 0, refusals 1"),
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "Nothing could be found out about it",
    event: { type: "unresolved", number: 1, callbacksRead: [] },
    expected: {
      "intended, unknown": byHolder("done: free, due 540"),
      "in memory": byHolder("done: free, due 599"),
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "Nothing could be found out about it after its deadline",
    event: { type: "unresolved", number: 1, callbacksRead: [] },
    now: NOON + HOUR,
    expected: {
      "intended, unknown": byHolder("done: abandoned as unknown, fails provider_timeout"),
      "in memory": byHolder("done: failed as files_lost, fails generation_failed"),
      others: byHolder("done: free, due 3600"),
    },
  },
  {
    title: "The request can no longer be built",
    event: { type: "unbuildable", failure: aFailure("invalid_input") },
    expected: {
      "none, refused, failed, abandoned": byHolder("done: fails generation_failed"),
      "intended, unknown": byHolder("done: abandoned as unknown, fails generation_failed"),
      "accepted, finished, in memory, stored": byHolder("done: free, due 0"),
    },
  },
  {
    title: "The job goes to a fallback",
    event: { type: "moved", route: A_ROUTE },
    expected: {
      "none, refused, failed, abandoned": byHolder("done: queued, free, due 0, to other, notify"),
      others: byHolder("done: free, due 0"),
    },
  },
];

describe("decide: what becomes of a submission", () => {
  testTables(TABLES, LIVE, (has, held) => liveJob(statesOf(has), held));
});
