import { trace } from "@opentelemetry/api";
import { expect } from "chai";
import { openOtlpProvider, type OtlpOptions } from "../../adapters/observability/otlp-provider.js";
import { OpenTelemetryTracer } from "../../adapters/observability/opentelemetry-tracer.js";
import { tracerContract } from "../contract/tracer.contract.js";
import { AppTelemetry } from "../support/app-telemetry.js";
import { RecordingLogger } from "../support/doubles/recording-logger.js";
import { type EndedSpan, RecordingTracer } from "../support/doubles/recording-tracer.js";
import { OtlpReceiver } from "../support/otlp-receiver.js";

const now = (): number => Date.now();

describe("Tracing", () => {
  let receiver: OtlpReceiver;
  let logger: RecordingLogger;

  beforeEach(async () => {
    receiver = await OtlpReceiver.open();
    logger = new RecordingLogger();
  });
  afterEach(() => receiver.close());

  const optionsOf = (given: Partial<OtlpOptions> = {}): OtlpOptions => ({
    ...{ endpoint: receiver.url, headers: {}, serviceName: null, version: "1.2.3", sampleRatio: 1, logger },
    ...given,
  });

  tracerContract("RecordingTracer", () => {
    const tracer = new RecordingTracer();
    return Promise.resolve({ tracer, ended: () => Promise.resolve(tracer.ended) });
  });

  tracerContract("OpenTelemetryTracer, by OTLP to a collector", () => {
    const { provider, close } = openOtlpProvider(optionsOf());
    const tracer = new OpenTelemetryTracer({ provider, version: "1", now });
    const ended = async (): Promise<readonly EndedSpan[]> => {
      await close(5_000);
      return receiver.spans;
    };
    return Promise.resolve({ tracer, ended });
  });

  tracerContract("OpenTelemetryTracer, to the provider of an app", () => {
    const app = new AppTelemetry();
    const tracer = new OpenTelemetryTracer({ provider: app.provider, version: "1", now });
    return Promise.resolve({ tracer, ended: () => Promise.resolve(app.ended) });
  });

  it("is posted to the path of the protocol or to the one that is given, with the headers that are given", async () => {
    for (const [path, posted] of [
      ["", "/v1/traces"],
      ["/otlp/traces", "/otlp/traces"],
    ] as const) {
      const { provider, close } = openOtlpProvider(
        optionsOf({ endpoint: `${receiver.url}${path}`, headers: { authorization: "Bearer x" }, serviceName: "music" }),
      );
      new OpenTelemetryTracer({ provider, version: "1", now }).start({ name: "one" }).end();
      await close(5_000);
      expect(receiver.paths.at(-1)).to.equal(posted);
      expect(receiver.headers.at(-1)).to.include({ authorization: "Bearer x", "content-type": "application/json" });
    }
    expect(receiver.spans[0]?.resource).to.include({ "service.name": "music", "service.version": "1.2.3" });
  });

  it("records the given part of the traces that begin here, and all of those that callers record", async () => {
    const { provider, close } = openOtlpProvider(optionsOf({ sampleRatio: 0 }));
    const tracer = new OpenTelemetryTracer({ provider, version: "1", now });
    const own = tracer.start({ name: "own" });
    expect(own.context.traceparent).to.match(/-00$/);
    own.end();
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    tracer.start({ name: "of a caller", parent: { traceparent, tracestate: null } }).end();
    await close(5_000);
    expect(receiver.spans.map(({ name }) => name)).to.deep.equal(["of a caller"]);
  });

  it("lasts as long as the steady clock says, from the storage's time on", async () => {
    const { provider, close } = openOtlpProvider(optionsOf());
    // Of before this process, and set back while the span runs.
    const times = [Date.UTC(2001, 0, 1), Date.UTC(1999, 0, 1)];
    const tracer = new OpenTelemetryTracer({ provider, version: "1", now: () => times.shift() ?? 0 });
    tracer.start({ name: "POST" }).end();
    await close(5_000);
    const [span] = receiver.spans;
    expect(span?.startedAt).to.equal(Date.UTC(2001, 0, 1));
    expect(span?.endedAt).to.be.within(Date.UTC(2001, 0, 1), Date.UTC(2002, 0, 1));
  });

  it("says in the log, once, that the collector refuses or is away, and loses what waits", async () => {
    receiver.status = 400;
    const { provider, close } = openOtlpProvider(optionsOf({ headers: { authorization: "Bearer hunter2" } }));
    const tracer = new OpenTelemetryTracer({ provider, version: "1", now });
    // More than one batch.
    for (let count = 0; count < 600; count++) tracer.start({ name: "one" }).end();
    await close(5_000);
    expect(logger.lines).to.have.length(1);
    const [line] = logger.lines;
    expect(line).to.include({ level: "warn", message: "Traces could not be exported" });
    expect(line?.fields).to.include({ endpoint: `${receiver.url}/v1/traces` });
    expect(JSON.stringify(logger.lines)).to.not.include("hunter2");
  });

  it("waits no longer than it may for a collector that never answers, and keeps so many spans at most", async () => {
    receiver.status = null;
    const { provider, close } = openOtlpProvider(optionsOf());
    const tracer = new OpenTelemetryTracer({ provider, version: "1", now });
    for (let count = 0; count < 10_000; count++) tracer.start({ name: "one" }).end();
    const arrived = receiver.nextRequest();
    await close(1);
    await arrived;
    const sent = receiver.received.match(/"spanId"/g)?.length ?? 0;
    expect(sent).to.be.within(1, 2_048 + 512);
  });

  it("is a part of the span that an app runs, and the app's spans are parts of it", async () => {
    const app = new AppTelemetry();
    app.register();
    try {
      const tracer = new OpenTelemetryTracer({ provider: trace.getTracerProvider(), version: "1", now });
      await app.tracer.startActiveSpan("checkout", async (checkout) => {
        await Promise.resolve();
        expect(tracer.current()?.traceparent).to.include(checkout.spanContext().spanId);
        const span = tracer.start({ name: "create job" });
        await tracer.within(span, async () => {
          await Promise.resolve();
          app.tracer.startSpan("in a plugin").end();
        });
        span.end();
        tracer.within(null, () => app.tracer.startSpan("in a group").end());
        checkout.end();
      });
    } finally {
      app.unregister();
    }
    const [inner, own, group, checkout] = app.ended;
    expect(own).to.include({ name: "create job", parentId: checkout?.spanId });
    expect(inner).to.include({ name: "in a plugin", parentId: own?.spanId });
    expect(group).to.include({ name: "in a group", parentId: null });
  });
});
