import { expect } from "chai";
import { spanIdOf, traceIdOf } from "../../../../core/tracing/trace-context.js";
import { TracedLogger } from "../../../../core/tracing/traced-logger.js";
import { loggerContract } from "../../../contract/logger.contract.js";
import { RecordingLogger } from "../../../support/doubles/recording-logger.js";
import { RecordingTracer } from "../../../support/doubles/recording-tracer.js";

loggerContract("TracedLogger, where nothing runs", () => {
  const logger = new RecordingLogger();
  return { logger: new TracedLogger(logger, new RecordingTracer()), lines: () => logger.lines };
});

describe("TracedLogger", () => {
  const tracer = new RecordingTracer();
  const span = tracer.start({ name: "process job" });
  const ids = { trace_id: traceIdOf(span.context), span_id: spanIdOf(span.context) };
  let lines: RecordingLogger;
  let logger: TracedLogger;
  beforeEach(() => {
    lines = new RecordingLogger();
    logger = new TracedLogger(lines, tracer);
  });

  it("adds the ids of the running span to every line, with those of the line", () => {
    tracer.within(span, () => {
      logger.debug("one");
      logger.info("two", { job_id: "job_1" });
      logger.child({ provider: "synth" }).warn("three");
      logger.error("four");
    });
    expect(lines.lines.map(({ fields }) => fields)).to.deep.equal([
      ids,
      { ...ids, job_id: "job_1" },
      { ...ids, provider: "synth" },
      ids,
    ]);
  });

  it("leaves a line about another trace as it is, and gives one about the same trace its span", () => {
    const other = "f".repeat(32);
    tracer.within(span, () => {
      logger.info("a job that another one's group settled", { trace_id: other });
      logger.child({ trace_id: other }).child({ job_id: "job_2" }).info("the same, through a child");
      logger.child({ trace_id: ids.trace_id }).info("the job itself");
    });
    expect(lines.lines.map(({ fields }) => fields)).to.deep.equal([
      { trace_id: other },
      { trace_id: other, job_id: "job_2" },
      ids,
    ]);
  });

  it("writes debug lines where the other logger does, or does not say", () => {
    expect(logger.isDebugEnabled).to.equal(true);
    const quiet = Object.assign(new RecordingLogger(), { isDebugEnabled: false });
    expect(new TracedLogger(quiet, tracer).isDebugEnabled).to.equal(false);
  });
});
