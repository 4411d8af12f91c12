export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Log lines for operators. Fields named like secrets are masked; an `error` field is written with its chain of causes.
 * Replaced through the override `logger` of `compose`.
 */
export interface Logger {
  /** False where {@link debug} writes nothing: its fields need not be made. Left out: it may write. */
  readonly isDebugEnabled?: boolean;
  /** What only helps to find a fault. */
  debug(message: string, fields?: LogFields): void;
  /** What happens as it should. */
  info(message: string, fields?: LogFields): void;
  /** What went wrong and was dealt with, or will be tried again. */
  warn(message: string, fields?: LogFields): void;
  /** What went wrong and needs an operator. */
  error(message: string, fields?: LogFields): void;
  /** A logger whose every line carries these fields. */
  child(fields: LogFields): Logger;
}
