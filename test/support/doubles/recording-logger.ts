import { redact, redactText } from "../../../adapters/observability/redact.js";
import type { LogFields, Logger } from "../../../core/ports/logger.js";

/** A line of the log. */
export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: LogFields;
}

/**
 * In place of the log: it stores its lines, those of its children included, with secrets masked as in the log.
 *
 * @example
 * const logger = new RecordingLogger();
 * logger.child({ job: "job_1" }).warn("Late", { seconds: 3 });
 * assert.deepEqual(logger.lines, [{ level: "warn", message: "Late", fields: { job: "job_1", seconds: 3 } }]);
 */
export class RecordingLogger implements Logger {
  constructor(
    readonly lines: LogLine[] = [],
    private readonly fields: LogFields = {},
  ) {}

  debug(message: string, fields?: LogFields): void {
    this.record("debug", message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.record("info", message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.record("warn", message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.record("error", message, fields);
  }

  child(fields: LogFields): Logger {
    return new RecordingLogger(this.lines, { ...this.fields, ...fields });
  }

  private record(level: LogLine["level"], message: string, fields?: LogFields): void {
    this.lines.push({
      level,
      message: redactText(message),
      fields: redact({ ...this.fields, ...fields }) as LogFields,
    });
  }
}
