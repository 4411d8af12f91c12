import { expect } from "chai";
import { ReportEnds } from "../../../../core/attempts/report-ends.js";
import type { JobAttempt, JobState } from "../../../../core/jobs/job.js";
import type { CountedJob } from "../../../../core/ports/metrics.js";
import { aJob, anAttempt, NOON } from "../../../support/builders.js";
import { type LogLine, RecordingLogger } from "../../../support/doubles/recording-logger.js";

const COMPLETED = aJob({
  status: "completed",
  attempt: 2,
  servedModelId: "fallback/v2",
  createdAt: NOON,
  completedAt: NOON + 30_000,
});
const REFUSED = anAttempt({ state: "refused", startedAt: NOON + 2_000, outcome: "unavailable", message: "busy" });
const SETTLED = anAttempt({ number: 2, state: "settled", startedAt: NOON + 5_000, finishedAt: NOON + 25_500 });

const FAILED = aJob({
  status: "failed",
  attempt: 1,
  creditsCharged: 0,
  completedAt: NOON + 1_000,
  error: { code: "generation_failed", message: "The provider could not generate it." },
});

describe("ReportEnds", () => {
  let counted: CountedJob[];
  let logger: RecordingLogger;
  beforeEach(() => {
    counted = [];
    logger = new RecordingLogger();
  });

  function report(job: JobState, attempts: readonly JobAttempt[]): LogLine | undefined {
    new ReportEnds({ logger, metrics: { countJobEnded: (one) => counted.push(one) } }).report(job, attempts);
    return logger.lines.at(-1);
  }

  it("logs a completed job with how long it took, waited and was rendered", () => {
    const line = report(COMPLETED, [REFUSED, SETTLED]);
    expect(line).to.include({ level: "info", message: "A job completed" });
    expect(line?.fields).to.deep.equal({
      job_id: COMPLETED.id,
      account_id: COMPLETED.accountId,
      operation: "music_synth_full",
      provider: "synth",
      model: "fallback/v2",
      attempts: 2,
      credits: 5,
      seconds: 30,
      queue_seconds: 2,
      render_seconds: 20.5,
    });
  });

  it("counts it with the same figures", () => {
    report(COMPLETED, [REFUSED, SETTLED]);
    expect(counted).to.deep.equal([
      {
        status: "completed",
        operation: "music_synth_full",
        provider: "synth",
        model: "fallback/v2",
        seconds: 30,
        queueSeconds: 2,
        renderSeconds: 20.5,
      },
    ]);
  });

  it("logs a failed job with its error, what is refunded and what the provider last said", () => {
    const failed = anAttempt({ number: 2, state: "failed", outcome: "failed", message: "no GPU", loss: "files_lost" });
    const line = report(FAILED, [REFUSED, failed]);
    expect(line).to.include({ level: "warn", message: "A job failed" });
    expect(line?.fields).to.deep.include({
      credits: 0,
      refunded: 5,
      seconds: 1,
      code: "generation_failed",
      reason: "The provider could not generate it.",
      outcome: "failed",
      provider_message: "no GPU",
      loss: "files_lost",
    });
    expect(line?.fields).not.to.have.property("render_seconds");
    expect(counted[0]).to.include({ status: "failed", renderSeconds: null });
  });

  it("leaves out what a job without an attempt or a loss has not, and names a split by its operation", () => {
    const split = { ...FAILED, kind: "stem_split", operation: "stem_split", servedModelId: null } as const;
    const fields = report({ ...split, modelId: "stem_split" }, [])?.fields;
    expect(fields).to.include({ model: "stem_split", refunded: 5 });
    expect(fields).not.to.have.any.keys("queue_seconds", "render_seconds", "outcome", "provider_message", "loss");
    expect(report(FAILED, [REFUSED])?.fields)
      .to.include({ outcome: "unavailable" })
      .and.not.to.have.property("loss");
  });

  it("reports no negative time where clocks are apart, and none of an end without a moment", () => {
    expect(report({ ...COMPLETED, completedAt: NOON - 5 }, [])?.fields).to.include({ seconds: 0 });
    expect(report({ ...COMPLETED, completedAt: null }, [])?.fields).to.include({ seconds: 0 });
    const unfinished = { ...SETTLED, finishedAt: null };
    expect(report(COMPLETED, [unfinished])?.fields).not.to.have.property("render_seconds");
  });

  it("works without metrics, and logs what metrics or a logger of an app throw", () => {
    new ReportEnds({ logger, metrics: null }).report(COMPLETED, []);
    expect(logger.lines).to.have.length(1);
    const failing = { countJobEnded: () => expect.fail("no metrics today") };
    new ReportEnds({ logger, metrics: failing }).report(COMPLETED, []);
    expect(logger.lines[1]).to.include({ level: "error", message: "The end of a job could not be reported" });
    expect(logger.lines[1]?.fields).to.include({ job_id: COMPLETED.id });
    expect(String((logger.lines[1]?.fields.error as Error).message)).to.equal("no metrics today");
  });
});
