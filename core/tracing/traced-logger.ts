import type { LogFields, Logger } from "../ports/logger.js";
import type { Tracer } from "../ports/tracer.js";
import { spanIdOf, traceIdOf } from "./trace-context.js";

/**
 * Adds `trace_id` and `span_id` of the running span to every line. A line that names a trace itself is about that one:
 * it gets the span only where it runs in that trace.
 */
export class TracedLogger implements Logger {
  constructor(
    private readonly logger: Logger,
    private readonly tracer: Pick<Tracer, "current">,
    /** Of all lines; null: that of the running span. */
    private readonly traceId: unknown = null,
  ) {}

  get isDebugEnabled(): boolean {
    return this.logger.isDebugEnabled !== false;
  }

  debug(message: string, fields?: LogFields): void {
    this.logger.debug(message, this.withIds(fields));
  }

  info(message: string, fields?: LogFields): void {
    this.logger.info(message, this.withIds(fields));
  }

  warn(message: string, fields?: LogFields): void {
    this.logger.warn(message, this.withIds(fields));
  }

  error(message: string, fields?: LogFields): void {
    this.logger.error(message, this.withIds(fields));
  }

  child(fields: LogFields): Logger {
    return new TracedLogger(this.logger.child(fields), this.tracer, fields["trace_id"] ?? this.traceId);
  }

  private withIds(fields: LogFields | undefined): LogFields | undefined {
    const running = this.tracer.current();
    if (running === null) return fields;
    const traceId = traceIdOf(running);
    const named = fields?.["trace_id"] ?? this.traceId;
    if (named !== null && named !== traceId) return fields;
    return { trace_id: traceId, span_id: spanIdOf(running), ...fields };
  }
}
