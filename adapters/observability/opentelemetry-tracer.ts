import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Attributes,
  type Context,
  context as active,
  createTraceState,
  type HrTime,
  type Link,
  ROOT_CONTEXT,
  type Span as OpenTelemetrySpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer as OpenTelemetry,
  type TracerProvider,
} from "@opentelemetry/api";
import type { Span, SpanAttributes, SpanDescription, TraceContext, Tracer } from "../../core/ports/tracer.js";
import { formatTraceparent, parseTraceContext } from "../../core/tracing/trace-context.js";

export interface OpenTelemetryTracerDeps {
  readonly provider: TracerProvider;
  /** Of Fermata: the version of the instrumentation. */
  readonly version: string;
  /** The time of the storage, so that spans of several machines agree; milliseconds since 1970. */
  now(): number;
}

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

/**
 * Spans of any OpenTelemetry provider. The running span is kept here, since only an embedding app may register what
 * keeps it for the whole process; where one has, spans of both are parts of each other.
 */
export class OpenTelemetryTracer implements Tracer {
  private readonly running = new AsyncLocalStorage<Context>();
  private readonly tracer: OpenTelemetry;

  constructor(private readonly deps: OpenTelemetryTracerDeps) {
    this.tracer = deps.provider.getTracer("fermata-music", deps.version);
  }

  start({ name, kind = "internal", parent, links = [], startedAt, attributes = {} }: SpanDescription): Span {
    const time = new SpanTime(this.deps.now, startedAt);
    const options = {
      kind: KINDS[kind],
      startTime: toHrTime(time.startedAt),
      attributes: given(attributes),
      links: links.flatMap(toLink),
    };
    return new StartedSpan(this.tracer.startSpan(name, options, this.contextOf(parent)), time);
  }

  within<Result>(span: Span | null, work: () => Result): Result {
    const context = span instanceof StartedSpan ? trace.setSpan(this.context(), span.span) : ROOT_CONTEXT;
    return this.running.run(context, () => active.with(context, work));
  }

  current(): TraceContext | null {
    const span = trace.getSpanContext(this.context());
    return span === undefined ? null : fromSpanContext(span);
  }

  /** Of the app where it keeps one; it is also what {@link within} has set. */
  private context(): Context {
    const ofApp = active.active();
    return trace.getSpanContext(ofApp) === undefined ? (this.running.getStore() ?? ofApp) : ofApp;
  }

  private contextOf(parent: TraceContext | null | undefined): Context {
    if (parent === undefined) return this.context();
    const span = parent === null ? null : toSpanContext(parent);
    return span === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, span);
  }
}

/** Starts at the storage's time, and lasts as long as the steady clock says, whatever the clocks are set to. */
class SpanTime {
  readonly startedAt: number;
  private readonly begunAt = performance.now();

  constructor(
    private readonly now: () => number,
    private readonly before: number | undefined,
  ) {
    this.startedAt = before ?? now();
  }

  get endsAt(): number {
    return this.before === undefined ? this.startedAt + performance.now() - this.begunAt : this.now();
  }
}

class StartedSpan implements Span {
  constructor(
    readonly span: OpenTelemetrySpan,
    private readonly time: SpanTime,
  ) {}

  get context(): TraceContext {
    return fromSpanContext(this.span.spanContext());
  }

  rename(name: string): void {
    this.span.updateName(name);
  }

  set(attributes: SpanAttributes): void {
    this.span.setAttributes(given(attributes));
  }

  fail(type: string): void {
    this.span.setStatus({ code: SpanStatusCode.ERROR });
    this.span.setAttribute("error.type", type);
  }

  end(endedAt?: number): void {
    this.span.end(toHrTime(Math.max(this.time.startedAt, endedAt ?? this.time.endsAt)));
  }
}

function given(attributes: SpanAttributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null)) as Attributes;
}

/** A number alone would count from the start of the process where it is before that. */
function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.floor((ms - seconds * 1_000) * 1e6)];
}

function toLink(context: TraceContext): Link[] {
  const span = toSpanContext(context);
  return span === null ? [] : [{ context: span }];
}

/** @returns null for a row that something else has written */
function toSpanContext(context: TraceContext): SpanContext | null {
  const checked = parseTraceContext(context.traceparent, context.tracestate);
  if (checked === null) return null;
  const [, traceId = "", spanId = "", flags = ""] = checked.traceparent.split("-");
  const { tracestate } = checked;
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(tracestate === null ? {} : { traceState: createTraceState(tracestate) }),
  };
}

function fromSpanContext({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const tracestate = traceState?.serialize() ?? "";
  return {
    traceparent: formatTraceparent(traceId, spanId, traceFlags),
    tracestate: tracestate === "" ? null : tracestate,
  };
}
