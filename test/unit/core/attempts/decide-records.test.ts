import { expect } from "chai";
import type { ExecutionEvent } from "../../../../core/attempts/events.js";
import type { ExecutionPolicy } from "../../../../core/attempts/policy.js";
import { ProviderFailure } from "../../../../core/ports/music-provider.js";
import type { JobAttempt } from "../../../../core/jobs/job.js";
import type { AttemptChanges } from "../../../../core/ports/job-store.js";
import { NOON } from "../../../support/builders.js";
import { accepts, CONFIRMED, finishes, isRunning, stores } from "./decision-cases.js";
import { ATTEMPTS, decided, endedJob, HANDLE, IDEMPOTENT, liveJob, POLICY } from "./decision-table.js";

const MINUTE = 60_000;
const EXPECTED = { amount: 0.1, unit: "USD" };
const REPORTED = { amount: 0.25, unit: "USD" };
const PRICED: ExecutionPolicy = { ...POLICY, expectedCost: EXPECTED };
const ONE_RESULT: ExecutionPolicy = { ...IDEMPOTENT, expectedCost: EXPECTED };
/** Closed and at rest: nothing of it is to be done any more. */
const AT_REST = { deadlineAt: null, overdueSince: null, endReportedAt: null, cancelDueAt: null, handle: null };
const CLOSED = { ...AT_REST, endedAt: NOON, result: null, files: null };

type Has = readonly Partial<JobAttempt>[];

/** What is written with attempt `number`. */
function record(has: Has, event: ExecutionEvent, policy = PRICED, number = 1): AttemptChanges | undefined {
  const before = liveJob(has, "reporter");
  return decided(before, "reporter", event, policy).attempts.find((update) => update.number === number)?.changes;
}

function recordAfterEnd(has: Has, event: ExecutionEvent, policy = PRICED): AttemptChanges | undefined {
  return decided(endedJob(has), "reporter", event, policy).attempts[0]?.changes;
}

const fails = (failure: ProviderFailure): ExecutionEvent => ({
  type: "submission_failed",
  number: 1,
  failure,
  fallback: null,
  isAborted: false,
});
const losesFiles = (failure: ProviderFailure | null, cost: typeof REPORTED | null): ExecutionEvent => ({
  type: "files_unavailable",
  number: 1,
  failure,
  again: "nowhere",
  cost,
});

describe("What is recorded with an attempt", () => {
  describe("whose report comes too late for its job", () => {
    const late = [ATTEMPTS.abandoned, ATTEMPTS.accepted];

    it("is bought in vain: accepted now, cancelled upstream, its bill not known", () => {
      expect(record(late, accepts(1))).to.deep.equal({
        ...CLOSED,
        state: "abandoned",
        outcome: "accepted",
        acceptedAt: NOON,
        cost: EXPECTED,
        billable: "unknown",
        loss: "late",
        handle: HANDLE,
        cancelDueAt: NOON,
      });
    });

    it("is billed where the provider had completed it, since it was accepted", () => {
      const taken = { ...ATTEMPTS.abandoned, acceptedAt: NOON - MINUTE };
      expect(record([taken, ATTEMPTS.accepted], finishes(1))).to.deep.equal({
        ...CLOSED,
        state: "abandoned",
        outcome: "completed",
        acceptedAt: NOON - MINUTE,
        cost: EXPECTED,
        billable: "yes",
        loss: "late",
      });
    });

    it("is the same work as another one where the provider creates one result per job", () => {
      expect(record(late, accepts(1), ONE_RESULT)).to.deep.equal({
        ...CLOSED,
        state: "abandoned",
        outcome: "accepted",
        cost: null,
        billable: "no",
      });
    });

    it("is nothing for attempts without an outcome, once another one was accepted for the same job", () => {
      const has = [ATTEMPTS.unknown, ATTEMPTS.unknown];
      const nothing = { ...CLOSED, state: "abandoned", cost: null, billable: "no" };
      expect(record(has, accepts(2), ONE_RESULT, 1)).to.deep.equal(nothing);
      expect(record(has, accepts(2), ONE_RESULT, 2)).to.include({ state: "accepted", billable: "unknown" });
    });
  });

  describe("whose job has ended", () => {
    it("is accepted in vain, and to be cancelled upstream where the provider can", () => {
      const expected = {
        ...CLOSED,
        state: "abandoned",
        outcome: "accepted",
        acceptedAt: NOON,
        cost: EXPECTED,
        billable: "unknown",
        loss: "late",
      };
      expect(recordAfterEnd([ATTEMPTS.abandoned], accepts(1))) //
        .to.deep.equal({ ...expected, handle: HANDLE, cancelDueAt: NOON });
      const cannot = { ...PRICED, capabilities: { ...PRICED.capabilities, cancel: false } };
      expect(recordAfterEnd([ATTEMPTS.abandoned], accepts(1), cannot)).to.deep.equal(expected);
    });

    it("was completed in vain: billed as the provider said, else as was known, else as expected", () => {
      const completes = (cost: typeof REPORTED | null): ExecutionEvent => ({ ...finishes(1), cost }) as ExecutionEvent;
      const known = { amount: 7, unit: "credits" };
      const taken = { ...ATTEMPTS.abandoned, acceptedAt: NOON - MINUTE, cost: known };
      expect(recordAfterEnd([taken], completes(REPORTED))).to.deep.include({
        outcome: "completed",
        acceptedAt: NOON - MINUTE,
        cost: REPORTED,
        billable: "yes",
      });
      expect(recordAfterEnd([taken], completes(null))).to.deep.include({ cost: known });
      expect(recordAfterEnd([ATTEMPTS.abandoned], completes(null))).to.deep.include({ cost: EXPECTED });
      expect(recordAfterEnd([taken], accepts(1))).to.deep.include({ cost: known });
      expect(recordAfterEnd([ATTEMPTS.abandoned], stores(1))).to.deep.include({ outcome: "completed" });
    });

    it("keeps the reason why it was given up, unless that was not known", () => {
      expect(recordAfterEnd([{ ...ATTEMPTS.abandoned, loss: "cancelled" }], accepts(1))).to.include({
        loss: "cancelled",
      });
      expect(recordAfterEnd([{ ...ATTEMPTS.refused, loss: null }], accepts(1))).to.include({ loss: "late" });
    });

    it("stays as it is where another attempt stands for the same work", () => {
      expect(recordAfterEnd([ATTEMPTS.abandoned, ATTEMPTS.settled], accepts(1), ONE_RESULT)).to.equal(undefined);
      expect(recordAfterEnd([ATTEMPTS.abandoned, ATTEMPTS.accepted], accepts(1), ONE_RESULT)).to.equal(undefined);
      expect(recordAfterEnd([ATTEMPTS.abandoned, ATTEMPTS.failed], accepts(1), ONE_RESULT)).to.include({
        loss: "late",
      });
      expect(recordAfterEnd([ATTEMPTS.abandoned, ATTEMPTS.settled], accepts(1))).to.include({ loss: "late" });
    });
  });

  describe("that failed", () => {
    it("is what the provider said, with its code and the id of its request", () => {
      const said = (options: ConstructorParameters<typeof ProviderFailure>[2]): unknown =>
        record([ATTEMPTS.intended], fails(new ProviderFailure("failed", "It broke.", options)))?.message;
      expect(said({})).to.equal("It broke.");
      expect(said({ providerCode: "E7" })).to.equal("It broke. (code E7)");
      expect(said({ requestId: "r1" })).to.equal("It broke. (request r1)");
      expect(said({ providerCode: "E7", requestId: "r1" })).to.equal("It broke. (code E7, request r1)");
    });

    it("costs what was expected, unless it is known to be free", () => {
      const free = new ProviderFailure("failed", "It broke.", { billable: "no" });
      const billed = new ProviderFailure("failed", "It broke.", { billable: "yes" });
      expect(record([ATTEMPTS.intended], fails(free))).to.deep.include({ cost: null, billable: "no" });
      expect(record([ATTEMPTS.intended], fails(billed))).to.deep.include({ cost: EXPECTED, billable: "yes" });
    });
  });

  describe("whose files", () => {
    it("are stored: completed, billed, with what could not be fetched", () => {
      const files = { ...ATTEMPTS.stored.files, missing: ["no stem", "no cover"] };
      const event = { type: "files_stored", number: 1, files, cost: null } as const;
      expect(record([ATTEMPTS.unknown], event)).to.deep.equal({
        ...CLOSED,
        state: "settled",
        outcome: "completed",
        message: "no stem no cover",
        cost: EXPECTED,
        billable: "yes",
        acceptedAt: NOON,
        finishedAt: NOON,
        loss: null,
      });
      const known = { ...ATTEMPTS.finished, cost: REPORTED };
      const { acceptedAt, finishedAt } = ATTEMPTS.finished;
      expect(record([known], stores(1))).to.deep.include({ message: null, cost: REPORTED, acceptedAt, finishedAt });
      expect(record([known], { ...event, cost: { ...REPORTED, amount: 1 } })).to.deep.include({
        cost: { ...REPORTED, amount: 1 },
      });
    });

    it("are stored leave the other attempts bought in vain, or nothing where it is the same work", () => {
      const has = [ATTEMPTS.accepted, ATTEMPTS.accepted];
      expect(record(has, stores(2), PRICED, 1)).to.include({ loss: "late", cancelDueAt: NOON, handle: HANDLE });
      expect(record(has, stores(2), ONE_RESULT, 1)).to.deep.include({
        ...CLOSED,
        loss: null,
        cost: null,
        billable: "no",
      });
    });

    it("are lost: billed as the provider said, else as expected", () => {
      const lost = { ...CLOSED, state: "failed", billable: "yes", loss: "files_lost" };
      expect(record([ATTEMPTS.unknown], losesFiles(null, REPORTED))).to.deep.include({
        ...lost,
        cost: REPORTED,
        acceptedAt: NOON,
        message: "The provider made it, and its files cannot be had.",
      });
      const free = new ProviderFailure("gone", "It is gone.", { billable: "no" });
      const { acceptedAt } = ATTEMPTS.finished;
      expect(record([ATTEMPTS.finished], losesFiles(free, null))).to.deep.include({
        ...lost,
        cost: EXPECTED,
        acceptedAt,
      });
    });

    it("are behind a dead link are asked for again, with a fresh one where the provider can be polled", () => {
      const gone = new ProviderFailure("gone", "It is gone.");
      const event = { type: "files_unavailable", number: 1, failure: gone, again: "link", cost: null } as const;
      const said = { endReportedAt: NOON, message: "It is gone.", cost: EXPECTED };
      expect(record([ATTEMPTS.finished], event)).to.deep.equal({ ...said, state: "accepted", result: null });
      expect(record([ATTEMPTS["in memory"]], event)).to.deep.equal(said);
      const doubted = { ...ATTEMPTS.finished, endReportedAt: NOON - 1, cost: REPORTED };
      expect(record([doubted], event)).to.deep.include({ endReportedAt: NOON - 1, cost: REPORTED });
      const confirmed = { ...ATTEMPTS.finished, endReportedAt: CONFIRMED };
      expect(record([confirmed], event)).to.include({ state: "failed", loss: "files_lost" });
    });
  });

  describe("that is rendering", () => {
    const progress = (percent: number | null, queuePosition: number | null) => ({ percent, queuePosition });
    const runs = (said: ReturnType<typeof progress>): ExecutionEvent =>
      ({ ...isRunning(1), progress: said }) as ExecutionEvent;

    it("is how far the provider says that it is, whenever that is new", () => {
      expect(record([ATTEMPTS.accepted], runs(progress(40, null)))).to.deep.equal({
        progress: { percent: 40, queuePosition: null, at: NOON },
      });
      expect(record([ATTEMPTS.accepted], runs(progress(null, 3)))).to.deep.equal({
        progress: { percent: null, queuePosition: 3, at: NOON },
      });
      const known = { ...ATTEMPTS.accepted, progress: { percent: 40, queuePosition: 2, at: NOON - 1 } };
      expect(record([known], runs(progress(40, 2)))).to.equal(undefined);
      expect(record([known], runs(progress(null, null)))).to.equal(undefined);
      expect(record([known], runs(progress(41, 2)))).to.have.property("progress");
      expect(record([known], runs(progress(40, 1)))).to.have.property("progress");
    });

    it("is that it was accepted, once a signed callback proves it", () => {
      expect(record([ATTEMPTS.unknown], isRunning(1))).to.deep.equal({
        state: "unknown",
        acceptedAt: NOON,
        deadlineAt: NOON + PRICED.renderDeadlineMs,
        overdueSince: null,
        cost: EXPECTED,
        billable: "unknown",
      });
      const withHandle = { ...isRunning(1), handle: HANDLE } as ExecutionEvent;
      const known = { ...ATTEMPTS.unknown, acceptedAt: NOON - MINUTE, overdueSince: NOON - 1 };
      expect(record([known], withHandle)).to.deep.include({
        state: "accepted",
        handle: HANDLE,
        outcome: "accepted",
        acceptedAt: NOON - MINUTE,
        overdueSince: NOON - 1,
        cancelDueAt: null,
      });
    });
  });
});
