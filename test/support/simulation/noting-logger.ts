import type { Logger, LogFields } from "../../../core/ports/logger.js";
import type { SimProcess } from "./process.js";

/** Errors that only a bug throws. */
const BUGS = new Set(["AssertionError", "TypeError", "ReferenceError", "RangeError", "UnstorableValueError"]);

/** Where what went wrong is noted. */
export interface Notes {
  note(line: string): void;
  violate(message: string): void;
}

/** Notes what went wrong; an error that only a bug throws is a violation. */
export class NotingLogger implements Logger {
  constructor(
    private readonly process: SimProcess,
    private readonly fields: LogFields,
    private readonly notes: Notes,
  ) {}

  debug(): void {
    // Not of use here.
  }

  info(): void {
    // As above.
  }

  warn(message: string, fields: LogFields = {}): void {
    if (!this.process.isDead) this.notes.note(this.line(message, fields));
  }

  error(message: string, fields: LogFields = {}): void {
    if (this.process.isDead) return;
    this.notes.note(this.line(message, fields));
    for (let error = fields["error"]; error instanceof Error; error = error.cause)
      if (BUGS.has(error.name)) this.notes.violate(`${message}: ${error.stack}`);
  }

  child(fields: LogFields): Logger {
    return new NotingLogger(this.process, { ...this.fields, ...fields }, this.notes);
  }

  private line(message: string, fields: LogFields): string {
    const { error, ...others } = { ...this.fields, ...fields };
    const cause = error instanceof Error ? `: ${error.message}` : "";
    return `${this.process.name}: ${message}${cause} ${JSON.stringify(others)}`;
  }
}
