import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Context,
  context,
  type ContextManager,
  ROOT_CONTEXT,
  SpanKind as Kinds,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { SpanKind } from "../../core/ports/tracer.js";
import type { EndedSpan } from "./doubles/recording-tracer.js";

/** OpenTelemetry as an app registers it for its whole process. */
export class AppTelemetry {
  private readonly exporter = new InMemorySpanExporter();
  readonly provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: this.exporter })] });
  /** Of the app's own code. */
  readonly tracer: Tracer = this.provider.getTracer("shop");

  register(): void {
    trace.setGlobalTracerProvider(this.provider);
    context.setGlobalContextManager(new RunningContexts());
  }

  /** Takes back what {@link register} did. */
  unregister(): void {
    trace.disable();
    context.disable();
  }

  /** The spans that have ended. */
  get ended(): readonly EndedSpan[] {
    return this.exporter.getFinishedSpans().map(toEnded);
  }
}

class RunningContexts implements ContextManager {
  private readonly running = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.running.getStore() ?? ROOT_CONTEXT;
  }

  with<Args extends unknown[], Work extends (...args: Args) => ReturnType<Work>>(
    of: Context,
    work: Work,
    self?: ThisParameterType<Work>,
    ...args: Args
  ): ReturnType<Work> {
    return this.running.run(of, () => work.apply(self, args));
  }

  bind<Target>(_of: Context, target: Target): Target {
    return target;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.running.disable();
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
    links: span.links.map((link) => link.context.spanId),
    attributes: span.attributes as EndedSpan["attributes"],
    hasFailed: span.status.code === SpanStatusCode.ERROR,
    startedAt: span.startTime[0] * 1_000 + span.startTime[1] / 1e6,
    endedAt: span.endTime[0] * 1_000 + span.endTime[1] / 1e6,
  };
}
