export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Log lines for operators. Fields named like secrets are masked; an `error` field is written with its chain of causes.
 * Replaced through the override `logger` of `compose`.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger whose every line carries these fields. */
  child(fields: LogFields): Logger;
}
