import { expect } from "chai";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import { type LogLine, RecordingLogger } from "../support/doubles/recording-logger.js";
import { submitCompletes, submitFails } from "../support/doubles/scripted-provider.js";
import { eventually } from "../support/process.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

describe("The log of an app", () => {
  let test: TestApp;
  before(async () => {
    test = await startTestApp({ work: true, settings: { jobs: { maxAttempts: 2, backoffMs: 0 } } });
  });
  after(() => test.close());

  function linesOf(field: string, value: string): LogLine[] {
    return test.logger.lines.filter(({ fields }) => fields[field] === value);
  }

  /** A generation that has ended, and the request that created it. */
  async function ended(): Promise<{ readonly id: string; readonly requestId: string }> {
    const { api } = await test.account();
    const response = await api.generate(undefined, { Prefer: "wait=20" });
    const requestId = response.headers.get("x-request-id") ?? "";
    const id = await eventually("the request has ended", () => {
      const line = linesOf("request_id", requestId).find(({ message }) => message === "A request has ended");
      return (line?.fields["job_id"] as string | undefined) ?? null;
    });
    return { id, requestId };
  }

  it("has one line of level info for a job that completed, with its model, credits and durations", async () => {
    test.provider.behaviour = submitCompletes;
    const { id, requestId } = await ended();
    const lines = linesOf("job_id", id).filter(({ level }) => level !== "debug");
    expect(lines.map(({ level, message }) => [level, message])).to.deep.equal([["info", "A job completed"]]);
    const { fields } = lines[0] as LogLine;
    expect(fields).to.include({
      request_id: requestId,
      provider: "scripted",
      model: "scripted/song",
      attempts: 1,
      credits: 10,
    });
    for (const name of ["seconds", "queue_seconds", "render_seconds"]) expect(fields[name], name).to.be.at.least(0);
  });

  it("has one line of level warn for a job that failed, with the reason and the provider's words, masked", async () => {
    test.provider.behaviour = () =>
      Promise.reject(new ProviderFailure("failed", "no: the key frm_AbcdefGhijkl123456 is not liked"));
    const { id } = await ended();
    const lines = linesOf("job_id", id).filter(({ message }) => message === "A job failed");
    expect(lines).to.have.length(1);
    const { level, fields } = lines[0] as LogLine;
    expect(level).to.equal("warn");
    expect(fields).to.include({
      code: "generation_failed",
      outcome: "failed",
      provider_message: "no: the key frm_[redacted] is not liked",
      attempts: 1,
      credits: 0,
      refunded: 10,
    });
    expect(fields["reason"]).to.be.a("string").and.not.equal("");
  });

  it("has the ids of the job and of its request in every line about it", async () => {
    test.provider.behaviour = submitFails("unavailable");
    const { id, requestId } = await ended();
    const lines = linesOf("job_id", id);
    // On a machine that stands still for a while there are lines about its storage and its leases between these.
    expect(lines.map(({ message }) => message)).to.include.members([
      "A submission failed",
      "A job failed",
      "A request has ended",
    ]);
    expect(linesOf("request_id", requestId)).to.deep.equal(lines);
  });

  it("has a line of level debug for every request, without what its query holds", async () => {
    const { api } = await test.account();
    const response = await api.get("/api/v1/tracks?search=hunter2");
    const requestId = response.headers.get("x-request-id") ?? "";
    const [line] = await eventually("the request has ended", () => {
      const found = linesOf("request_id", requestId);
      return found.length > 0 && found;
    });
    expect(line).to.deep.include({ level: "debug", message: "A request has ended" });
    expect(line?.fields).to.include({
      method: "GET",
      path: "/api/v1/tracks",
      route: "/api/v1/tracks",
      status: response.status,
    });
    expect(line?.fields["seconds"]).to.be.at.least(0);
    expect(JSON.stringify(line)).to.not.include("hunter2");
  });

  it("has no such line where its logger says that it writes none", async () => {
    const logger = Object.assign(new RecordingLogger(), { isDebugEnabled: false });
    const quiet = await startTestApp({ logger });
    try {
      const { api } = await quiet.account();
      expect((await api.get("/api/v1/me")).status).to.equal(200);
    } finally {
      await quiet.close();
    }
    expect(logger.lines.map(({ message }) => message)).to.not.include("A request has ended");
  });
});
