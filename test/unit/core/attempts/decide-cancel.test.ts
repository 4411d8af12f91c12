import { NOON } from "../../../support/builders.js";
import { A_POLICY } from "../../../support/reports.js";
import {
  accepts,
  type Case,
  finishes,
  isRunning,
  isUnavailable,
  isUnknown,
  polls,
  refusesContent,
  stores,
  testCases,
} from "./decision-cases.js";
import { aFailure, ATTEMPTS, HANDLE, IDEMPOTENT, WITH_LOOKUP } from "./decision-table.js";

const { intended, unknown, accepted, finished, refused } = ATTEMPTS;
const HOUR = 3_600_000;
const job = { cancelRequestedAt: NOON - 1_000 };
const confirmed = { type: "cancel_reported", number: 1, outcome: "cancelled" } as const;

const CASES: Readonly<Record<string, readonly Case[]>> = {
  "A job that is wanted no more is asked about as soon as its provider has it": [
    {
      title: "when the submission is accepted",
      has: [intended],
      job,
      event: accepts(1),
      expected: "done: accepted and cancelled upstream, rendering, free, due 5, notify",
    },
    {
      title: "when a callback proves that a lost submission was accepted",
      has: [unknown],
      job,
      event: { type: "running", number: 1, nextPollMs: 5_000, handle: HANDLE, callbacksRead: [] },
      expected: "done: accepted and cancelled upstream, rendering, free, due 5",
    },
    {
      title: "but not at a provider that cannot cancel",
      has: [intended],
      job,
      policy: A_POLICY,
      event: accepts(1),
      expected: "done: accepted, rendering, free, due 5",
    },
    {
      title: "and not when it is wanted",
      has: [intended],
      event: accepts(1),
      expected: "done: accepted, rendering, free, due 5",
    },
  ],
  "A job that is wanted no more is not bought again": [
    {
      title: "when the provider was not called",
      has: [intended],
      job,
      event: { type: "not_called", number: 1, message: "The process stops." },
      expected: "done: refused, fails generation_failed",
    },
    {
      title: "when the provider refused it for now, also with a fallback",
      has: [intended],
      job,
      event: isUnavailable(1),
      expected: "done: refused, fails generation_failed",
    },
    {
      title: "when the provider never received it",
      has: [{ ...unknown, startedAt: NOON - HOUR, callEndsAt: NOON - HOUR, endedAt: NOON - HOUR }],
      job,
      policy: WITH_LOOKUP,
      event: { type: "absent", number: 1, fallback: null },
      expected: "done: refused, fails generation_failed",
    },
    {
      title: "and keeps its own reason when the provider refuses the content",
      has: [intended],
      job,
      event: refusesContent(1),
      expected: "done: refused, fails invalid_request",
    },
  ],
  "A job that is wanted no more and bought goes on": [
    {
      title: "while the outcome of its submission is unknown",
      has: [intended],
      job,
      event: isUnknown(1),
      expected: "done: unknown, free, due 540",
    },
    {
      title: "while it renders",
      has: [accepted],
      job,
      event: isRunning(1),
      expected: "done: free, due 5",
    },
    {
      title: "when its result is known",
      has: [accepted],
      job,
      event: finishes(1),
      expected: "continue: finished",
    },
    {
      title: "and completes, charged, when its files are stored",
      has: [finished],
      job,
      event: stores(1),
      expected: "done: settled, completes",
    },
    {
      title: "a second request changes nothing",
      has: [accepted],
      job,
      event: { type: "cancel_requested" },
      expected: "stale",
    },
    {
      title: "with another attempt that is bought",
      has: [accepted, accepted],
      job,
      policy: IDEMPOTENT,
      event: confirmed,
      expected: "done: abandoned as cancelled",
    },
  ],
  "The end that a provider reports": [
    {
      title: "as cancelled is that of the cancellation",
      has: [accepted],
      job,
      event: { type: "poll_failed", number: 1, failure: aFailure("cancelled"), source: "poll", callbacksRead: [] },
      expected: "done: failed as cancelled, fails generation_failed",
    },
    {
      title: "as cancelled is the provider's where the job was wanted",
      has: [accepted],
      event: { type: "poll_failed", number: 1, failure: aFailure("cancelled"), source: "poll", callbacksRead: [] },
      expected: "done: failed as provider_failed, fails generation_failed",
    },
    {
      title: "otherwise keeps its reason and is confirmed as ever",
      has: [accepted],
      job,
      event: polls(1, "gone"),
      expected: "done: doubted, free, due 7.5",
    },
    {
      title: "is not that of a refused attempt before",
      has: [refused, accepted],
      job,
      event: { ...confirmed, number: 2 },
      expected: "done: #2 abandoned as cancelled, fails generation_failed",
    },
  ],
};

testCases(CASES);
