import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import type {
  Span,
  SpanAttributes,
  SpanDescription,
  SpanKind,
  TraceContext,
  Tracer,
} from "../../../core/ports/tracer.js";
import { formatTraceparent, parseTraceContext, spanIdOf, traceIdOf } from "../../../core/tracing/trace-context.js";

/** A span that was recorded and has ended. */
export interface EndedSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly traceId: string;
  readonly spanId: string;
  /** null: it began its trace. */
  readonly parentId: string | null;
  /** The spans that it is linked with, by their ids. */
  readonly links: readonly string[];
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly hasFailed: boolean;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number;
}

/**
 * In place of tracing: it stores the spans that have ended, in that order.
 *
 * @example
 * const tracer = new RecordingTracer();
 * tracer.start({ name: "settle job", attributes: { "fermata.job.status": "failed" } }).end();
 * assert.equal(tracer.ended[0]?.attributes["fermata.job.status"], "failed");
 */
export class RecordingTracer implements Tracer {
  readonly ended: EndedSpan[] = [];
  private readonly running = new AsyncLocalStorage<TraceContext | null>();

  /** @param now the time of spans; milliseconds since 1970 */
  constructor(private readonly now: () => number = () => Date.now()) {}

  start(description: SpanDescription): Span {
    const { parent = this.current() } = description;
    const checked = parent === null ? null : parseTraceContext(parent.traceparent, parent.tracestate);
    const isRecorded = checked === null || checked.traceparent.endsWith("1");
    const traceId = checked === null ? randomBytes(16).toString("hex") : traceIdOf(checked);
    const traceparent = formatTraceparent(traceId, randomBytes(8).toString("hex"), isRecorded ? 1 : 0);
    const context = { traceparent, tracestate: checked?.tracestate ?? null };
    return new RecordedSpan(context, checked, description, this.now, (span) => {
      if (isRecorded) this.ended.push(span);
    });
  }

  within<Result>(span: Span | null, work: () => Result): Result {
    return this.running.run(span?.context ?? null, work);
  }

  current(): TraceContext | null {
    return this.running.getStore() ?? null;
  }
}

class RecordedSpan implements Span {
  private name: string;
  private attributes: SpanAttributes;
  private hasFailed = false;
  private hasEnded = false;
  private readonly startedAt: number;

  constructor(
    readonly context: TraceContext,
    private readonly parent: TraceContext | null,
    private readonly description: SpanDescription,
    private readonly now: () => number,
    private readonly record: (span: EndedSpan) => void,
  ) {
    this.name = description.name;
    this.attributes = description.attributes ?? {};
    this.startedAt = description.startedAt ?? now();
  }

  rename(name: string): void {
    this.name = name;
  }

  set(attributes: SpanAttributes): void {
    this.attributes = { ...this.attributes, ...attributes };
  }

  fail(type: string): void {
    this.hasFailed = true;
    this.set({ "error.type": type });
  }

  end(endedAt = this.now()): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    const { name, context, parent, startedAt, hasFailed } = this;
    const { kind = "internal", links = [] } = this.description;
    this.record({
      name,
      kind,
      traceId: traceIdOf(context),
      spanId: spanIdOf(context),
      parentId: parent === null ? null : spanIdOf(parent),
      links: links.map(spanIdOf),
      attributes: given(this.attributes),
      hasFailed,
      startedAt,
      endedAt: Math.max(startedAt, endedAt),
    });
  }
}

function given(attributes: SpanAttributes): EndedSpan["attributes"] {
  const entries = Object.entries(attributes).filter(([, value]) => value !== null);
  return Object.fromEntries(entries) as EndedSpan["attributes"];
}
