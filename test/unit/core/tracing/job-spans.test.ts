import { expect } from "chai";
import { jobMessage, processJob, traceEnd } from "../../../../core/tracing/job-spans.js";
import { formatTraceparent, traceIdOf } from "../../../../core/tracing/trace-context.js";
import { aJob, anAttempt, NOON } from "../../../support/builders.js";
import { RecordingTracer } from "../../../support/doubles/recording-tracer.js";

const TRACE = { traceparent: formatTraceparent("a".repeat(32), "b".repeat(16), 1), tracestate: null };
const OTHER = { traceparent: formatTraceparent("c".repeat(32), "d".repeat(16), 1), tracestate: null };

const FAILED = aJob({
  trace: TRACE,
  status: "failed",
  creditsCharged: 0,
  createdAt: NOON,
  completedAt: NOON + 9_000,
  error: { code: "provider_timeout", message: "It took too long." },
});

describe("The spans of a job", () => {
  let tracer: RecordingTracer;
  beforeEach(() => {
    tracer = new RecordingTracer(() => NOON + 10_000);
  });
  const spans = () => tracer.ended.map(({ name, startedAt, endedAt }) => [name, startedAt - NOON, endedAt - NOON]);

  it("are messages of a queue of their own", () => {
    expect(jobMessage("create")).to.deep.equal({
      "messaging.system": "fermata",
      "messaging.destination.name": "jobs",
      "messaging.operation.name": "create",
      "messaging.operation.type": "create",
    });
  });

  it("name what a worker does with it, as a part of the trace that created it", () => {
    const job = aJob({ phase: "rendering", attempt: 2, servedModelId: "synth/v2" });
    expect(processJob(job, TRACE)).to.deep.equal({
      name: "process job",
      kind: "consumer",
      parent: TRACE,
      attributes: {
        ...jobMessage("process"),
        "messaging.message.id": job.id,
        "fermata.job.phase": "rendering",
        "fermata.job.attempt": 2,
        "fermata.provider": "synth",
        "fermata.model": "synth/v2",
      },
    });
  });

  it("are none of a job that was accepted without tracing", () => {
    traceEnd(tracer, { ...FAILED, trace: null }, [], NOON);
    expect(tracer.ended).to.deep.equal([]);
  });

  it("are the wait, the attempts and the settlement, each with its own time", () => {
    const attempts = [
      anAttempt({ state: "refused", outcome: "unavailable", startedAt: NOON + 2_000, endedAt: NOON + 3_000 }),
      anAttempt({ number: 2, state: "settled", modelId: "synth/v2", startedAt: NOON + 4_000, endedAt: null }),
    ];
    const completed = aJob({ trace: TRACE, status: "completed", createdAt: NOON, completedAt: NOON + 9_000 });
    traceEnd(tracer, completed, attempts, NOON + 8_000);
    expect(spans()).to.deep.equal([
      ["wait in queue", 0, 2_000],
      ["attempt", 2_000, 3_000],
      ["attempt", 4_000, 9_000],
      ["settle job", 8_000, 10_000],
    ]);
    const [, refused, settled, settlement] = tracer.ended;
    expect(refused).to.deep.include({ hasFailed: true });
    expect(refused?.attributes).to.deep.equal({
      "fermata.attempt.number": 1,
      "fermata.attempt.state": "refused",
      "fermata.provider": "synth",
      "fermata.model": "synth/v1",
      "error.type": "unavailable",
    });
    expect(settled).to.include({ hasFailed: false });
    expect(settlement).to.include({ hasFailed: false, traceId: traceIdOf(TRACE), parentId: "b".repeat(16) });
    expect(settlement?.attributes).to.deep.equal({
      "messaging.message.id": completed.id,
      "fermata.job.status": "completed",
      "fermata.credits.charged": 5,
      "fermata.credits.refunded": 0,
    });
  });

  it("say why an attempt and the job failed", () => {
    const types = (given: Parameters<typeof anAttempt>[0]): unknown => {
      const recorded = new RecordingTracer(() => NOON);
      traceEnd(recorded, FAILED, [anAttempt(given)], NOON);
      return recorded.ended[1]?.attributes["error.type"];
    };
    expect(types({ state: "abandoned", loss: "deadline", outcome: "accepted" })).to.equal("deadline");
    expect(types({ state: "failed", outcome: "gone" })).to.equal("gone");
    expect(types({ state: "abandoned" })).to.equal("abandoned");
    traceEnd(tracer, FAILED, [], NOON);
    expect(spans()[0]).to.deep.equal(["wait in queue", 0, 9_000]);
    expect(tracer.ended[1]).to.include({ hasFailed: true });
    expect(tracer.ended[1]?.attributes).to.include({ "error.type": "provider_timeout", "fermata.credits.refunded": 5 });
  });

  it("have the settlement in the step that led to it, where that is of the same trace", () => {
    const parentOf = (running: typeof TRACE): unknown => {
      const step = tracer.start({ name: "step", parent: running });
      tracer.within(step, () => traceEnd(tracer, FAILED, [], NOON));
      return [tracer.ended.at(-1)?.parentId, step.context.traceparent.slice(36, 52)];
    };
    const [parent, step] = parentOf(TRACE) as [string, string];
    expect(parent).to.equal(step);
    expect((parentOf(OTHER) as [string])[0]).to.equal("b".repeat(16));
  });

  it("end with the report where the end has no moment", () => {
    traceEnd(tracer, { ...FAILED, completedAt: null }, [], NOON + 500);
    expect(spans()[0]).to.deep.equal(["wait in queue", 0, 500]);
  });
});
