import type { RenderingEvent } from "../../../../core/attempts/events.js";
import type { ProviderFailure, ProviderHandle } from "../../../../core/ports/music-provider.js";
import { NOON } from "../../../support/builders.js";
import {
  A_LINK,
  aFailure,
  byHolder,
  type DecisionTable,
  HANDLE,
  LIVE,
  liveJob,
  statesOf,
  testTables,
} from "./decision-table.js";

const HOUR = 3_600_000;

function running(handle: ProviderHandle | null = null): RenderingEvent {
  return { type: "running", number: 1, nextPollMs: 5_000, handle, callbacksRead: [] };
}

function pollFailed(failure: ProviderFailure | null, source: "poll" | "callback" = "poll"): RenderingEvent {
  return { type: "poll_failed", number: 1, failure, source, callbacksRead: [] };
}

const TABLES: readonly DecisionTable[] = [
  {
    title: "The provider is still rendering",
    event: running(),
    expected: {
      none: "stale",
      "intended, unknown": ["done: unknown, free, due 3600", "done: unknown", "done: unknown, due 3600"],
      accepted: ["done: free, due 5", "done", "done: due 5"],
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "The provider is still rendering, under another handle",
    event: running(HANDLE),
    expected: {
      none: "stale",
      "intended, unknown": [
        "done: accepted, rendering, free, due 5",
        "done: accepted, rendering",
        "done: accepted, rendering, due 5",
      ],
      accepted: ["done: another handle, free, due 5", "done: another handle", "done: another handle, due 5"],
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "The provider is still rendering past the attempt's deadline",
    event: running(),
    now: NOON + HOUR,
    expected: {
      none: "stale",
      "intended, unknown": ["done: unknown, free, due 7200", "done: unknown", "done: unknown, due 7200"],
      accepted: "done: abandoned as deadline and cancelled upstream, fails provider_timeout",
      others: byHolder("done: free, due 3600"),
    },
  },
  {
    title: "A poll failed without a reason",
    event: pollFailed(null),
    expected: {
      accepted: byHolder("done: free, due 1.5"),
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "The provider was unavailable at a poll",
    event: pollFailed(aFailure("unavailable")),
    expected: {
      accepted: byHolder("done: trouble noted, free, due 1.5"),
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "The provider was unavailable at a poll past the attempt's deadline",
    event: pollFailed(aFailure("unavailable")),
    now: NOON + HOUR,
    expected: {
      accepted: byHolder("done: overdue, free, due 3601.5"),
      others: byHolder("done: free, due 3600"),
    },
  },
  {
    title: "A poll reports that the work is gone",
    event: pollFailed(aFailure("gone")),
    expected: {
      accepted: byHolder("done: doubted, free, due 7.5"),
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "A poll reports a failure without a code",
    event: pollFailed(aFailure("failed")),
    expected: {
      accepted: byHolder("done: doubted, free, due 7.5"),
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "A poll reports a failure with the provider's code",
    event: pollFailed(aFailure("failed", "E1")),
    expected: {
      accepted: "done: failed as provider_failed, fails generation_failed",
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "A signed callback reports a failure without a code",
    event: pollFailed(aFailure("failed"), "callback"),
    expected: {
      "intended, unknown, accepted": "done: failed as provider_failed, fails generation_failed",
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "The provider finished it, and the result is behind a link",
    event: { type: "finished", number: 1, result: A_LINK, cost: null },
    expected: {
      none: "stale",
      "intended, unknown": [
        "continue: finished, rendering",
        "continue: finished, rendering",
        "continue: finished, rendering, due 0",
      ],
      "accepted, finished, in memory": ["continue: finished", "continue: finished", "continue: finished, due 0"],
      stored: "continue",
      "refused, failed, abandoned": [
        "continue: finished, rendering",
        "continue: finished, rendering",
        "continue: finished, rendering, processing, due 0",
      ],
    },
  },
  {
    title: "The provider finished it, and the result is in the memory of the worker",
    event: { type: "finished", number: 1, result: null, cost: null },
    expected: {
      none: "stale",
      "intended, unknown": "continue: finished, rendering",
      "accepted, finished, in memory": "continue: finished",
      stored: "continue",
      "refused, failed, abandoned": [
        "continue: finished, rendering",
        "continue: finished, rendering",
        "continue: finished, rendering, processing",
      ],
    },
  },
  {
    title: "The provider is done, and the worker goes on to collect the files: only the one with the lease counts",
    event: { type: "finished", number: 1, result: A_LINK, cost: null, collects: true },
    expected: {
      none: "stale",
      "intended, unknown": [
        "continue: finished, rendering, begun 1",
        "continue: finished, rendering",
        "continue: finished, rendering, due 0",
      ],
      "accepted, finished, in memory": [
        "continue: finished, begun 1",
        "continue: finished",
        "continue: finished, due 0",
      ],
      stored: ["continue: begun 1", "continue", "continue"],
      "refused, failed, abandoned": [
        "continue: finished, rendering, begun 1",
        "continue: finished, rendering",
        "continue: finished, rendering, processing, due 0",
      ],
    },
  },
];

describe("decide: what becomes of accepted work", () => {
  testTables(TABLES, LIVE, (has, held) => liveJob(statesOf(has), held));
});
