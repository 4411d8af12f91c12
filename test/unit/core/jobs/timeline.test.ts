import { expect } from "chai";
import type { Job, JobAttempt } from "../../../../core/jobs/job.js";
import { erasedError, erasedRequest, wordlessRequest } from "../../../../core/jobs/erased-job.js";
import { logIdsOf } from "../../../../core/jobs/log-ids.js";
import { accountPart, type JobHistory, timelineOf } from "../../../../core/jobs/timeline.js";
import { aJob, aJobRequest, anAsset, anAttempt, anEntry, anId, aTrack, NOON } from "../../../support/builders.js";
import { aDelivery, aDeliveryAttempt } from "../../../support/webhook-builders.js";

const JOB = aJob({ createdAt: NOON, reserved: { monthly: 3, pack: 2 } });
const OF_FIRST = { attempt: 1, provider: "synth" };

function history(job: Partial<Job>, attempts: readonly Partial<JobAttempt>[], more: Partial<JobHistory> = {}) {
  return {
    job: { ...JOB, ...job },
    attempts: attempts.map((attempt, index) => anAttempt({ number: index + 1, startedAt: NOON + 1, ...attempt })),
    ...{ entries: [], tracks: [], outputs: [], deliveries: [] },
    ...more,
  };
}
/** Without what was accepted first. */
const story = (...given: Parameters<typeof history>) => timelineOf(history(...given)).slice(1);
const ids = (...given: Parameters<typeof history>): string[] => story(...given).map(({ id }) => id);

describe("The timeline of a job", () => {
  it("begins with its acceptance, and what was reserved", () => {
    expect(timelineOf(history({}, []))).to.deep.equal([{ id: "accepted", at: NOON, type: "accepted", credits: 5 }]);
  });

  it("has the moments of each attempt, and how far the provider is", () => {
    const progress = { percent: 40, queuePosition: null, at: NOON + 3 };
    const accepted = { state: "accepted", acceptedAt: NOON + 2, progress, modelId: "synth/v2" } as const;
    expect(story({}, [accepted])).to.deep.equal([
      { id: "attempt.1.started", at: NOON + 1, type: "attempt_started", ...OF_FIRST, model: "synth/v2" },
      { id: "attempt.1.accepted", at: NOON + 2, type: "attempt_accepted", ...OF_FIRST },
      {
        id: "attempt.1.progress",
        at: NOON + 3,
        type: "attempt_progress",
        ...OF_FIRST,
        percent: 40,
        queuePosition: null,
      },
    ]);
    const finished = { state: "finished", acceptedAt: NOON + 2, finishedAt: NOON + 5 } as const;
    expect(story({}, [finished]).at(-1)).to.deep.equal({
      ...{ id: "attempt.1.finished", at: NOON + 5, type: "attempt_finished" },
      ...OF_FIRST,
    });
    expect(ids({}, [{ ...finished, acceptedAt: NOON + 5 }]), "finished with the call itself").to.deep.equal([
      "attempt.1.started",
      "attempt.1.finished",
    ]);
  });

  it("has how an attempt failed, and whether the job went on", () => {
    const said = {
      outcome: "unavailable",
      message: "busy",
      loss: null,
      cost: { amount: 1, unit: "USD" },
      billable: "no",
    } as const;
    const refused = { state: "refused", endedAt: NOON + 4, ...said } as const;
    expect(story({}, [refused])[1]).to.deep.equal({
      ...{ id: "attempt.1.failed", at: NOON + 4, type: "attempt_failed", state: "refused", retried: true },
      ...OF_FIRST,
      ...said,
    });
    const retried = (job: Partial<Job>, ...attempts: readonly Partial<JobAttempt>[]): unknown =>
      story(job, attempts).map((one) => (one.type === "attempt_failed" ? one.retried : null));
    const ended = { status: "failed", completedAt: NOON + 9 } as const;
    expect(retried(ended, refused)).to.deep.include(false);
    expect(retried(ended, refused, { ...refused, state: "failed" })).to.deep.equal([null, true, null, false, null]);
    expect(story({}, [{ ...refused, state: "abandoned", endedAt: null }])[1]).to.include({ at: NOON + 1 });
  });

  it("has what was stored, with the attempt or with the job", () => {
    const [one, two] = [anAsset({ sizeBytes: 10 }), anAsset({ sizeBytes: 5 })];
    const output = { label: "drums", audioKey: "a", contentType: "audio/wav", sizeBytes: 7, durationSeconds: 1 };
    const tracks = [aTrack({ assets: [one, two] })];
    const settled = { state: "settled", endedAt: NOON + 6 } as const;
    const stored = (...given: Parameters<typeof history>) =>
      story(...given).find(({ type }) => type === "files_stored");
    const completed = { status: "completed", completedAt: NOON + 7 } as const;
    expect(stored(completed, [settled], { tracks, outputs: [output] })).to.deep.equal({
      ...{ id: "attempt.1.stored", at: NOON + 7, type: "files_stored", files: 3, bytes: 22 },
      ...OF_FIRST,
    });
    const files = { tracks: [], outputs: [output], missing: [] };
    expect(stored({}, [{ ...settled, state: "stored", files }], { tracks })).to.include({
      at: NOON + 6,
      files: 1,
      bytes: 7,
    });
    expect(stored({}, [settled])).to.include({ at: NOON + 6, files: 0, bytes: 0 });
  });

  it("has a request to cancel at its moment among the attempts", () => {
    const attempt = { state: "accepted", acceptedAt: NOON + 4 } as const;
    const at = (cancelRequestedAt: number): string[] => ids({ cancelRequestedAt }, [attempt]);
    expect(at(NOON)).to.deep.equal(["cancel_requested", "attempt.1.started", "attempt.1.accepted"]);
    expect(at(NOON + 1)).to.deep.equal(["attempt.1.started", "cancel_requested", "attempt.1.accepted"]);
    expect(at(NOON + 9)).to.deep.equal(["attempt.1.started", "attempt.1.accepted", "cancel_requested"]);
    expect(story({ cancelRequestedAt: NOON }, [])).to.deep.equal([
      { id: "cancel_requested", at: NOON, type: "cancel_requested" },
    ]);
  });

  it("ends with the credits that moved, then with the end", () => {
    const entries = [
      anEntry({ kind: "reserve", createdAt: NOON }),
      anEntry({ kind: "charge", spent: 5, createdAt: NOON + 8 }),
    ];
    expect(story({ status: "completed", completedAt: NOON + 9 }, [], { entries })).to.deep.equal([
      { id: "charged", at: NOON + 8, type: "charged", credits: 5 },
      { id: "completed", at: NOON + 9, type: "completed" },
    ]);
    const error = { code: "generation_failed", message: "It broke." } as const;
    const failed = { status: "failed", completedAt: NOON + 9, error } as const;
    const refund = [anEntry({ kind: "refund", monthly: 3, pack: 2, createdAt: NOON + 8 })];
    expect(story(failed, [], { entries: refund })).to.deep.equal([
      { id: "refunded", at: NOON + 8, type: "refunded", credits: 5 },
      { id: "failed", at: NOON + 9, type: "failed", error },
    ]);
    expect(ids({ ...failed, error: null }, [], { entries: refund })).to.deep.equal(["refunded"]);
    expect(story({}, [], { entries })).to.deep.equal([]);
  });

  it("ends with what the job says of its credits, once its entries are archived", () => {
    expect(story({ status: "completed", completedAt: NOON + 9, creditsCharged: 4 }, [])[0]).to.deep.equal({
      ...{ id: "charged", at: NOON + 9, type: "charged", credits: 4 },
    });
    expect(story({ status: "failed", completedAt: NOON + 9 }, [])[0]).to.deep.equal({
      ...{ id: "refunded", at: NOON + 9, type: "refunded", credits: 5 },
    });
  });

  it("goes on with the deliveries of its event, by their moments", () => {
    const [one, two] = [
      aDelivery({ state: "delivered", endedAt: NOON + 30 }),
      aDelivery({ state: "pending", endedAt: null }),
    ];
    const tried = (delivery: typeof one, at: number, number: number) => ({
      ...aDeliveryAttempt({ deliveryId: delivery.id, startedAt: at, status: 500, failure: "http_5xx", message: "no" }),
      number,
    });
    const deliveries = [
      { delivery: one, tries: [tried(one, NOON + 20, 1)] },
      { delivery: two, tries: [tried(two, NOON + 15, 1), tried(two, NOON + 25, 2)] },
      { delivery: aDelivery({ state: "exhausted", endedAt: null }), tries: [] },
    ];
    const events = story({}, [], { deliveries });
    expect(events.map(({ id }) => id)).to.deep.equal([
      `delivery.${two.id}.1`,
      `delivery.${one.id}.1`,
      `delivery.${two.id}.2`,
      `delivery.${one.id}.delivered`,
    ]);
    expect(events[0]).to.deep.equal({
      ...{ id: `delivery.${two.id}.1`, at: NOON + 15, type: "delivery_tried", number: 1 },
      ...{ delivery: two.id, endpoint: two.endpointId, status: 500, failure: "http_5xx", message: "no" },
    });
    expect(events[3]).to.deep.include({ type: "delivery_ended", state: "delivered", endpoint: one.endpointId });
  });

  it("shows an account nothing of deliveries, of bills and of the provider's words", () => {
    const deliveries = [{ delivery: aDelivery({ state: "delivered", endedAt: NOON }), tries: [] }];
    const progress = { percent: 1, queuePosition: null, at: NOON };
    const attempts = [{ state: "failed", progress, message: "secret", billable: "yes" }] as const;
    const seen = timelineOf(history({}, attempts, { deliveries })).map(accountPart);
    expect(seen.map((one) => one?.type ?? null)).to.deep.equal([
      "accepted",
      "attempt_started",
      null,
      "attempt_failed",
      null,
    ]);
    expect(seen[3]).to.deep.equal({
      ...{
        id: "attempt.1.failed",
        at: NOON + 1,
        type: "attempt_failed",
        state: "failed",
        outcome: null,
        retried: true,
      },
      ...OF_FIRST,
    });
  });
});

describe("What is left of a job", () => {
  const request = aJobRequest({
    ...{ prompt: "rain", lyrics: "la", durationSeconds: 30, instrumental: false, client: "studio" },
    ...{ metadata: { order: 7 }, options: { seed: 1 }, sourceTrackId: anId("trk") },
  });

  it("whose account is erased is how much was asked for, and nothing of what", () => {
    expect(erasedRequest(request)).to.deep.equal({
      ...{ prompt: "", lyrics: null, durationSeconds: 30, instrumental: false, client: null },
      ...{ metadata: null, options: {}, sourceTrackId: null, sourceUse: null },
    });
    const error = { code: "generation_failed", message: "It does not like it." } as const;
    expect(erasedError(error)).to.deep.equal({ code: "generation_failed", message: "The account was deleted." });
    expect(erasedError(null)).to.equal(null);
  });

  it("whose tracks are deleted has no words", () => {
    expect(wordlessRequest(request)).to.deep.equal({
      ...request,
      ...{ prompt: "", lyrics: null, metadata: null, options: {} },
    });
  });

  it("is named in log lines with its request and its trace, where it has them", () => {
    expect(logIdsOf(JOB)).to.deep.equal({ job_id: JOB.id });
    const trace = { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`, tracestate: null };
    expect(logIdsOf({ ...JOB, requestId: "req_1", trace })).to.deep.equal({
      ...{ job_id: JOB.id, request_id: "req_1", trace_id: "a".repeat(32) },
    });
  });
});
