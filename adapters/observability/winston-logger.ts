import { createRequire } from "node:module";
import type WinstonLibrary from "winston";
import type { Logger as Winston } from "winston";
import type { LogFields, Logger } from "../../core/ports/logger.js";
import { printable, printableLines } from "../../core/printable.js";
import { redact, redactText } from "./redact.js";
import { LOG_LEVELS, type LogFormat, type LogLevel } from "./log-options.js";

export interface WinstonLoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** stderr by default: stdout is for the output of commands. */
  readonly stream?: NodeJS.WritableStream;
}

interface Line {
  readonly level: string;
  readonly message: string;
  readonly timestamp: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Writes lines through winston. Secrets are masked in fields, in texts and in the messages of errors; what a terminal
 * would obey is shown as escapes, in JSON as escapes of JSON.
 */
export class WinstonLogger implements Logger {
  private constructor(
    private readonly options: WinstonLoggerOptions,
    private readonly fields: LogFields,
    /** Shared with all children; `winston` is null until there is a line. */
    private readonly state: { isClosed: boolean; winston: Winston | null },
  ) {}

  static open(options: WinstonLoggerOptions): WinstonLogger {
    return new WinstonLogger(options, {}, { isClosed: false, winston: null });
  }

  get isDebugEnabled(): boolean {
    return this.writes("debug");
  }

  debug(message: string, fields?: LogFields): void {
    this.write("debug", message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.write("info", message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.write("warn", message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.write("error", message, fields);
  }

  child(fields: LogFields): Logger {
    return new WinstonLogger(this.options, { ...this.fields, ...fields }, this.state);
  }

  /** Resolves when every line was handed to the stream, which stays open. Later lines are dropped. */
  async close(): Promise<void> {
    if (this.state.isClosed) return;
    this.state.isClosed = true;
    const { winston } = this.state;
    if (winston === null) return;
    await new Promise((resolve) => {
      winston.once("finish", resolve);
      winston.end();
    });
  }

  private writes(level: LogLevel): boolean {
    return LOG_LEVELS.indexOf(level) <= LOG_LEVELS.indexOf(this.options.level);
  }

  private write(level: LogLevel, message: string, fields?: LogFields): void {
    if (!this.writes(level) || this.state.isClosed) return;
    this.state.winston ??= openWinston(this.options);
    this.state.winston.log({ level, message: redactText(message), fields: redact({ ...this.fields, ...fields }) });
  }
}

/** Loaded with the first line: most commands write none, and the library is a good part of their time. */
function openWinston(options: WinstonLoggerOptions): Winston {
  const { createLogger, format, transports } = createRequire(import.meta.url)("winston") as typeof WinstonLibrary;
  const write = options.format === "json" ? toJson : toPretty;
  return createLogger({
    level: options.level,
    levels: Object.fromEntries(LOG_LEVELS.map((level, rank) => [level, rank])),
    format: format.combine(
      format.timestamp(),
      format.printf((info) => write(info as unknown as Line)),
    ),
    transports: [new transports.Stream({ stream: options.stream ?? process.stderr, eol: "\n" })],
  });
}

function toJson({ level, message, timestamp, fields }: Line): string {
  const line = { time: timestamp, level, message, ...withoutNames(fields, ["time", "level", "message"]) };
  return printable(JSON.stringify(line));
}

/** A field named like a part of the line keeps its value under another name. */
function withoutNames(fields: Line["fields"], taken: readonly string[]): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [taken.includes(name) ? `field_${name}` : name, value]),
  );
}

function toPretty({ level, message, timestamp, fields }: Line): string {
  const { error, ...others } = fields;
  const words = Object.entries(others)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        ` ${name}=${typeof value === "string" && /^[\w.:/@-]+$/.test(value) ? value : JSON.stringify(value)}`,
    );
  const time = timestamp.slice("2026-11-21T".length, -1);
  const line = printable(`${time} ${level.toUpperCase().padEnd(5)} ${message}${words.join("")}`);
  return error === undefined ? line : `${line}${printableLines(prettyError(error, "\n  "))}`;
}

function prettyError(error: unknown, lead: string): string {
  if (typeof error !== "object" || error === null || !("message" in error)) return `${lead}${JSON.stringify(error)}`;
  const { name, message, stack, cause } = error as { name?: string; message: string; stack?: string; cause?: unknown };
  const text = (stack ?? `${name ?? "Error"}: ${message}`).replaceAll("\n", "\n  ");
  return `${lead}${text}${cause === undefined ? "" : prettyError(cause, "\n  caused by: ")}`;
}
