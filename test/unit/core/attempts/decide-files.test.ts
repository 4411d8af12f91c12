import type { FilesEvent } from "../../../../core/attempts/events.js";
import type { ProviderFailure } from "../../../../core/ports/music-provider.js";
import { NOON } from "../../../support/builders.js";
import {
  aFailure,
  ATTEMPTS,
  byHolder,
  type DecisionTable,
  LIVE,
  liveJob,
  statesOf,
  testTables,
} from "./decision-table.js";

const HOUR = 3_600_000;

const FILES = ATTEMPTS.stored.files;

function unavailable(failure: ProviderFailure | null, again: "link" | "provider" | "nowhere"): FilesEvent {
  return { type: "files_unavailable", number: 1, failure, again, cost: null };
}

const TABLES: readonly DecisionTable[] = [
  {
    title: "The files are stored",
    event: { type: "files_stored", number: 1, files: FILES, cost: null },
    expected: {
      none: "stale",
      "refused, failed, abandoned": [
        "done: settled, completes",
        "done: settled, completes",
        "done: settled, processing, completes",
      ],
      others: "done: settled, completes",
    },
  },
  {
    title: "The files are stored, and the job cannot be settled now",
    event: { type: "files_kept", number: 1, files: FILES },
    expected: {
      "none, refused, failed, abandoned": "stale",
      "intended, unknown": "continue: stored, rendering",
      "accepted, finished, in memory, stored": "continue: stored",
    },
  },
  {
    title: "A link cannot be fetched now",
    event: unavailable(null, "link"),
    expected: {
      "intended, unknown, accepted, finished, in memory": byHolder("done: free, due 15"),
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "A link cannot be fetched now, past the attempt's deadline",
    event: unavailable(null, "link"),
    now: NOON + HOUR,
    expected: {
      "intended, unknown, accepted, finished, in memory": byHolder("done: overdue, free, due 3615"),
      others: byHolder("done: free, due 3600"),
    },
  },
  {
    title: "The provider cannot be asked for the files now",
    event: unavailable(null, "provider"),
    expected: {
      "intended, unknown, accepted, finished, in memory": byHolder("done: free, due 15"),
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "Files in the memory of the worker cannot be stored",
    event: unavailable(null, "nowhere"),
    expected: {
      "none, stored, refused, failed, abandoned": byHolder("done: free, due 0"),
      others: byHolder("done: failed as files_lost, fails generation_failed"),
    },
  },
  {
    title: "A link is dead",
    event: unavailable(aFailure("gone"), "link"),
    expected: {
      "intended, unknown, in memory": byHolder("done: doubted, free, due 7.5"),
      "accepted, finished": byHolder("done: accepted doubted, free, due 7.5"),
      others: byHolder("done: free, due 0"),
    },
  },
  {
    title: "What was in the memory of the worker is no audio",
    event: unavailable(aFailure("failed"), "nowhere"),
    expected: {
      "none, stored, refused, failed, abandoned": byHolder("done: free, due 0"),
      others: byHolder("done: failed as files_lost, fails generation_failed"),
    },
  },
];

describe("decide: what becomes of files", () => {
  testTables(TABLES, LIVE, (has, held) => liveJob(statesOf(has), held));
});
