import { type Context, ROOT_CONTEXT, SpanKind as Kinds, SpanStatusCode, trace } from "@opentelemetry/api";
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { expect } from "chai";
import { openOtlpProvider, type OtlpOptions } from "../../adapters/observability/opentelemetry/otlp-provider.js";
import { OpenTelemetryTracer } from "../../adapters/observability/opentelemetry/tracer.js";
import type { SpanKind } from "../../core/ports/tracer.js";
import { tracerContract } from "../contract/tracer.contract.js";
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
    const exporter = new InMemorySpanExporter();
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
    const tracer = new OpenTelemetryTracer({ provider, version: "1", now });
    return Promise.resolve({ tracer, ended: () => Promise.resolve(exporter.getFinishedSpans().map(toEnded)) });
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

  it("is a part of the span that an app runs, where the app keeps the running one for the whole process", async () => {
    const exporter = new InMemorySpanExporter();
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
    const tracer = new OpenTelemetryTracer({ provider, version: "1", now });
    const ofApp = provider.getTracer("shop").startSpan("checkout");
    const manager = new StackOfContexts(trace.setSpan(ROOT_CONTEXT, ofApp));
    const { context } = await import("@opentelemetry/api");
    context.setGlobalContextManager(manager);
    try {
      expect(tracer.current()?.traceparent).to.include(ofApp.spanContext().spanId);
      const span = tracer.start({ name: "create job" });
      tracer.within(span, () => provider.getTracer("shop").startSpan("in a plugin").end());
      span.end();
    } finally {
      context.disable();
    }
    const [inner, own] = exporter.getFinishedSpans().map(toEnded);
    expect(own).to.include({ name: "create job", parentId: ofApp.spanContext().spanId });
    expect(inner).to.include({ name: "in a plugin", parentId: own?.spanId });
  });
});

/** A context manager as an app registers it, for work that waits for nothing. */
class StackOfContexts {
  private readonly contexts: Context[];

  constructor(first: Context) {
    this.contexts = [first];
  }

  active(): Context {
    return this.contexts.at(-1) ?? ROOT_CONTEXT;
  }

  with<Args extends unknown[], Result>(
    context: Context,
    work: (...args: Args) => Result,
    self?: unknown,
    ...args: Args
  ): Result {
    this.contexts.push(context);
    try {
      return work.apply(self, args);
    } finally {
      this.contexts.pop();
    }
  }

  bind<Target>(_context: Context, target: Target): Target {
    return target;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    return this;
  }
}

function toEnded(span: ReadableSpan): EndedSpan {
  const { traceId, spanId } = span.spanContext();
  return {
    name: span.name,
    kind: Kinds[span.kind].toLowerCase() as SpanKind,
    traceId,
    spanId,
    parentId: span.parentSpanContext?.spanId ?? null,
    links: span.links.map(({ context }) => context.spanId),
    attributes: span.attributes as EndedSpan["attributes"],
    hasFailed: span.status.code === SpanStatusCode.ERROR,
    startedAt: span.startTime[0] * 1_000 + span.startTime[1] / 1e6,
    endedAt: span.endTime[0] * 1_000 + span.endTime[1] / 1e6,
  };
}
