import { expect } from "chai";
import { AppTelemetry } from "../support/app-telemetry.js";
import { dataOf } from "../support/api-client.js";
import { spanIdOf, traceIdOf } from "../../core/tracing/trace-context.js";
import { RecordingSender } from "../support/doubles/recording-sender.js";
import { type EndedSpan, RecordingTracer } from "../support/doubles/recording-tracer.js";
import { submitAccepts, submitCompletes, submitFails } from "../support/doubles/scripted-provider.js";
import { StubGuard } from "../support/doubles/stub-guard.js";
import { eventually } from "../support/process.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const HOOK = "https://hooks.nightingale.example/fermata";

describe("Traces of an app", () => {
  let test: TestApp;
  let caller: TestAccount;
  const tracer = new RecordingTracer();
  const sender = new RecordingSender();

  before(async () => {
    test = await startTestApp({ work: true, tracer, webhookSender: sender, addressGuard: new StubGuard() });
    caller = await test.account();
    await test.app.webhooks.endpoints.create(caller.account.id, HOOK);
  });
  after(() => test.close());
  beforeEach(() => {
    test.provider.behaviour = submitCompletes;
  });

  const ofTrace = (traceId: string): EndedSpan[] => tracer.ended.filter((span) => span.traceId === traceId);

  /** The spans of a trace with this name, once there are so many. */
  const named = (traceId: string, name: string, count = 1): Promise<EndedSpan[]> =>
    eventually(`the span ${name}`, () => {
      const found = ofTrace(traceId).filter((span) => span.name === name);
      return found.length >= count && found;
    });

  const one = async (traceId: string, name: string): Promise<EndedSpan> => {
    const [span, ...others] = await named(traceId, name);
    expect(others, name).to.have.length(0);
    return span as EndedSpan;
  };

  /** A generation that ends while its request waits, under a trace of the caller. */
  async function generate(traceparent: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const response = await caller.api.generate(undefined, { Prefer: "wait=20", traceparent, ...headers });
    return dataOf<{ readonly id: string }>(response).id;
  }

  it("are one for a generation: from the caller over request, queue, provider and files to the webhook", async () => {
    test.provider.behaviour = submitAccepts(1);
    const traceId = "1".repeat(32);
    const id = await generate(`00-${traceId}-${SPAN}-01`, { tracestate: "shop=7" });
    const webhook = await one(traceId, "deliver webhook");
    const request = await one(traceId, "POST /api/v1/generations");
    const created = await one(traceId, "create job");

    expect(request).to.include({ kind: "server", parentId: SPAN, hasFailed: false });
    expect(request.attributes).to.include({
      "http.request.method": "POST",
      "http.route": "/api/v1/generations",
      "http.response.status_code": 202,
      "fermata.account.id": caller.account.id,
      "fermata.job.id": id,
    });
    expect(created).to.include({ kind: "producer", parentId: request.spanId });
    expect(created.attributes).to.include({ "messaging.message.id": id, "fermata.acceptance": "accepted" });

    // That of the second one ends after the response and the webhook.
    const steps = await named(traceId, "process job", 2);
    expect(steps.map(({ attributes }) => attributes["fermata.job.phase"])).to.deep.equal(["waiting", "rendering"]);
    for (const step of steps) expect(step).to.include({ kind: "consumer", parentId: created.spanId });
    const [submitting, polling] = steps as [EndedSpan, EndedSpan];
    expect(await one(traceId, "submit scripted")).to.include({ kind: "client", parentId: submitting.spanId });
    expect(await one(traceId, "poll scripted")).to.include({ kind: "client", parentId: polling.spanId });
    const stored = await one(traceId, "store files");
    expect(stored.parentId).to.equal(polling.spanId);
    for (const file of await named(traceId, "fetch file")) {
      expect(file.parentId).to.equal(stored.spanId);
      expect(file.attributes["fermata.asset.bytes"]).to.equal(1_000);
    }

    expect((await one(traceId, "wait in queue")).parentId).to.equal(created.spanId);
    const attempt = await one(traceId, "attempt");
    expect(attempt).to.include({ parentId: created.spanId, hasFailed: false });
    expect(attempt.attributes).to.include({ "fermata.attempt.number": 1, "fermata.attempt.state": "settled" });
    const settled = await one(traceId, "settle job");
    expect(settled.parentId).to.equal(polling.spanId);
    expect(settled.attributes).to.include({
      "fermata.job.status": "completed",
      "fermata.credits.charged": 10,
      "fermata.credits.refunded": 0,
    });

    expect(webhook).to.include({ kind: "client", parentId: created.spanId, hasFailed: false });
    expect(webhook.attributes).to.include({
      "http.response.status_code": 200,
      "server.address": "hooks.nightingale.example",
      "fermata.event.type": "generation.completed",
    });
    const sent = sender.messages.find(({ trace }) => trace !== null && traceIdOf(trace) === traceId)?.trace;
    expect(sent).to.deep.equal({ traceparent: `00-${traceId}-${webhook.spanId}-01`, tracestate: "shop=7" });
    for (const { startedAt, endedAt } of ofTrace(traceId)) expect(endedAt).to.be.at.least(startedAt);
  });

  it("are of each job its own, though requests are accepted and settled in groups", async () => {
    const traceIds = Array.from({ length: 12 }, (_, index) => index.toString(16).padStart(32, "a"));
    const ids = await Promise.all(traceIds.map((traceId) => generate(`00-${traceId}-${SPAN}-01`)));
    for (const [index, traceId] of traceIds.entries()) {
      expect((await one(traceId, "create job")).attributes["messaging.message.id"]).to.equal(ids[index]);
      expect((await one(traceId, "process job")).attributes["messaging.message.id"]).to.equal(ids[index]);
      expect((await one(traceId, "settle job")).attributes["messaging.message.id"]).to.equal(ids[index]);
    }
  });

  it("begin here where traceparent is absent or malformed", async () => {
    for (const traceparent of ["nonsense", `00-${TRACE}-${SPAN}-01-more`, `00-${"0".repeat(32)}-${SPAN}-01`]) {
      const before = tracer.ended.length;
      await caller.api.send("GET", "/api/v1/me", { headers: { traceparent } });
      const request = await eventually("the request", () =>
        tracer.ended.slice(before).find(({ name }) => name === "GET /api/v1/me"),
      );
      expect(request).to.include({ parentId: null }).and.to.not.include({ traceId: TRACE });
    }
  });

  it("are not recorded where the caller does not, and its ids still reach the webhook", async () => {
    const traceId = "2".repeat(32);
    await generate(`00-${traceId}-${SPAN}-00`);
    const trace = await eventually("the webhook", () =>
      sender.messages.find((message) => message.trace !== null && traceIdOf(message.trace) === traceId),
    );
    expect(trace.trace?.traceparent).to.match(/-00$/);
    expect(ofTrace(traceId)).to.deep.equal([]);
  });

  it("hold neither addresses nor keys nor prompts, and none of probes", async () => {
    const secret = "hunter2";
    const before = tracer.ended.length;
    await test.anonymous.get("/healthz");
    await test.anonymous.get("/readyz");
    await test.anonymous.get("/metrics");
    await test.anonymous.get(`/share/${secret}?sig=${secret}`);
    await caller.api.get(`/api/v1/jobs/${secret}?token=${secret}`);
    await caller.api.get(`/${secret}`);
    const traceId = "3".repeat(32);
    const body = { model_id: "scripted/song", prompt: secret, client: secret, metadata: { order: secret } };
    await caller.api.generate(body, { Prefer: "wait=20", traceparent: `00-${traceId}-${SPAN}-01` });
    await one(traceId, "deliver webhook");
    const since = tracer.ended.slice(before);
    expect(since.map(({ name }) => name)).to.include.members(["GET", "GET /api/v1/jobs/{job_id}"]);
    expect(since.filter(({ kind }) => kind === "server")).to.have.length(4);
    expect(JSON.stringify(since)).to.not.include(secret).and.not.include(caller.key);
  });

  it("show a failure by its code, on the request, the call, the attempt and the job", async () => {
    test.provider.behaviour = submitFails("content_rejected");
    const traceId = "4".repeat(32);
    await generate(`00-${traceId}-${SPAN}-01`);
    const settled = await one(traceId, "settle job");
    expect(settled.attributes).to.include({
      "error.type": "invalid_request",
      "fermata.job.status": "failed",
      "fermata.credits.charged": 0,
      "fermata.credits.refunded": 10,
    });
    for (const name of ["submit scripted", "attempt"]) {
      const span = await one(traceId, name);
      expect(span.attributes["error.type"], name).to.equal("content_rejected");
      expect(span.hasFailed, name).to.equal(true);
    }
    // Nothing that the service did wrong.
    expect(await one(traceId, "POST /api/v1/generations")).to.include({ hasFailed: false });
  });

  it("of a retry are linked with the trace of the job that failed", async () => {
    test.provider.behaviour = submitFails("failed");
    const failedId = "5".repeat(32);
    const id = await generate(`00-${failedId}-${SPAN}-01`);
    const failed = await one(failedId, "create job");
    test.provider.behaviour = submitCompletes;
    const retried = await test.app.retryJobs.retry(id);
    await test.app.generations.wait(retried.id);
    const retry = tracer.ended.find(({ name }) => name === "retry job");
    expect(retry?.links).to.deep.equal([failed.spanId]);
    const created = tracer.ended.find(({ attributes }) => attributes["messaging.message.id"] === retried.id);
    expect(created).to.include({ traceId: retry?.traceId, parentId: retry?.spanId });
  });

  it("go on with that of the embedding app", async () => {
    const checkout = tracer.start({ name: "checkout" });
    const input = { modelId: "scripted/song", prompt: "rain" };
    const { id } = await tracer.within(checkout, () => test.app.generations.create(caller.account.id, input));
    await test.app.generations.wait(id);
    const traceId = traceIdOf(checkout.context);
    expect((await one(traceId, "create job")).parentId).to.equal(spanIdOf(checkout.context));
    expect((await one(traceId, "settle job")).attributes["messaging.message.id"]).to.equal(id);
  });

  it("have their ids in the lines of the log", async () => {
    test.provider.behaviour = submitFails("failed");
    const traceId = "6".repeat(32);
    const id = await generate(`00-${traceId}-${SPAN}-01`);
    await one(traceId, "POST /api/v1/generations");
    const lines = test.logger.lines.filter(({ fields }) => fields["job_id"] === id);
    expect(lines.map(({ message }) => message)).to.include.members([
      "A submission failed",
      "A job failed",
      "A request has ended",
    ]);
    for (const { fields, message } of lines) expect(fields["trace_id"], message).to.equal(traceId);
    const spanOf = (message: string): unknown => lines.find((line) => line.message === message)?.fields["span_id"];
    expect(spanOf("A request has ended")).to.equal((await one(traceId, "POST /api/v1/generations")).spanId);
    expect(spanOf("A submission failed")).to.equal((await one(traceId, "process job")).spanId);
  });
});

describe("Traces of an app that has registered OpenTelemetry itself", () => {
  const telemetry = new AppTelemetry();
  let test: TestApp;

  before(async () => {
    telemetry.register();
    test = await startTestApp({ work: true, settings: { tracing: { useGlobal: true } } });
  });
  after(async () => {
    await test.close();
    telemetry.unregister();
  });

  it("go to its provider, as parts of its spans, and have its spans as parts", async () => {
    const { account } = await test.account();
    test.provider.behaviour = async (request, context) => {
      telemetry.tracer.startSpan("in a plugin").end();
      return submitCompletes(request, context);
    };
    const input = { modelId: "scripted/song", prompt: "rain" };
    const id = await telemetry.tracer.startActiveSpan("checkout", async (checkout) => {
      const created = await test.app.generations.create(account.id, input);
      checkout.end();
      return created.id;
    });
    await test.app.generations.wait(id);
    const one = (name: string): Promise<EndedSpan> =>
      eventually(`the span ${name}`, () => telemetry.ended.find((span) => span.name === name));
    const [checkout, created, step] = [await one("checkout"), await one("create job"), await one("process job")];
    expect(created).to.include({ traceId: checkout.traceId, parentId: checkout.spanId });
    expect(step).to.include({ traceId: checkout.traceId, parentId: created.spanId });
    expect((await one("submit scripted")).parentId).to.equal(step.spanId);
    expect((await one("in a plugin")).parentId).to.equal((await one("submit scripted")).spanId);
  });
});
