/** Where work belongs in a trace, as it is stored and sent on (W3C Trace Context). */
export interface TraceContext {
  /** `00-<trace id>-<span id>-<flags>`, in lower-case hex; flags `01`: the trace is recorded. */
  readonly traceparent: string;
  /** What other systems of the trace keep in it; null for nothing. */
  readonly tracestate: string | null;
}

/** Which part of an exchange a span is, as in OpenTelemetry; `internal`: none. */
export type SpanKind = "internal" | "server" | "client" | "producer" | "consumer";

/** Ids, numbers and closed words: no secret, and nothing that a caller wrote. Those that are null are left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | null>>;

export interface SpanDescription {
  /** One of few: no ids. */
  readonly name: string;
  readonly kind?: SpanKind;
  /** The span that it is a part of; by default the running one. null: it begins a trace. */
  readonly parent?: TraceContext | null;
  /** Spans that it has to do with, and is no part of. */
  readonly links?: readonly TraceContext[];
  /** Of work that is over already; now by default. */
  readonly startedAt?: number;
  readonly attributes?: SpanAttributes;
}

/** Work, from its start to its end. Nothing of it is shown before it has ended. */
export interface Span {
  /** What its parts, in this process or another, have as their parent. */
  readonly context: TraceContext;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** It failed. @param type a closed word, such as an error code: `error.type` */
  fail(type: string): void;
  /** Once; later calls change nothing. @param endedAt now by default */
  end(endedAt?: number): void;
}

/**
 * Shows what work led to what other work, across processes. Nothing that it does fails, or is waited for. Selected by
 * `tracing.endpoint` or `tracing.useGlobal`; replaced through the override `tracer` of `compose`, and null traces
 * nothing.
 */
export interface Tracer {
  /** Starts a span. It belongs to the trace of its parent, and is recorded if that is. */
  start(description: SpanDescription): Span;
  /** Runs `work`, and what it waits for, with this as the running span; null: with none. */
  within<Result>(span: Span | null, work: () => Result): Result;
  /** The running span, also one that an embedding app has started; null when there is none. */
  current(): TraceContext | null;
}
