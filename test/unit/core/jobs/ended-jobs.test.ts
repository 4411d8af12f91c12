import { expect } from "chai";
import { type JobEnded, EndedJobs } from "../../../../core/jobs/ended-jobs.js";
import { aJob } from "../../../support/builders.js";
import { RecordingLogger } from "../../../support/doubles/recording-logger.js";

const ENDED: JobEnded = { job: aJob({ status: "completed", phase: "ended" }), tracks: [], outputs: [] };

describe("EndedJobs", () => {
  it("notifies every listener of every end", () => {
    const events = new EndedJobs({ logger: new RecordingLogger() });
    const heard: string[] = [];
    events.onEnded(({ job }) => heard.push(`one ${job.id}`));
    events.onEnded(({ job }) => heard.push(`two ${job.id}`));
    events.emitEnded(ENDED);
    expect(heard).to.deep.equal([`one ${ENDED.job.id}`, `two ${ENDED.job.id}`]);
  });

  it("does not notify a listener that unsubscribed", () => {
    const events = new EndedJobs({ logger: new RecordingLogger() });
    let heard = 0;
    const stop = events.onEnded(() => heard++);
    events.emitEnded(ENDED);
    stop();
    events.emitEnded(ENDED);
    expect(heard).to.equal(1);
  });

  it("notifies the others although one listener throws, and logs it", () => {
    const logger = new RecordingLogger();
    const events = new EndedJobs({ logger });
    let heard = 0;
    events.onEnded(() => {
      throw new Error("broken listener");
    });
    events.onEnded(() => heard++);
    events.emitEnded(ENDED);
    expect(heard).to.equal(1);
    expect(logger.lines.map(({ level, fields }) => [level, fields["job_id"]])).to.deep.equal([["error", ENDED.job.id]]);
  });

  it("lets a listener take itself off while it is called", () => {
    const events = new EndedJobs({ logger: new RecordingLogger() });
    const heard: string[] = [];
    const stop = events.onEnded(() => {
      heard.push("once");
      stop();
    });
    events.onEnded(() => heard.push("always"));
    events.emitEnded(ENDED);
    events.emitEnded(ENDED);
    expect(heard).to.deep.equal(["once", "always", "always"]);
  });
});
