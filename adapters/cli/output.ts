import type { Command } from "commander";
import { printable, printableLines } from "../../core/printable.js";
import type { AccountId } from "../../core/ids.js";
import type { CliHost, OperatorApp, Presenters } from "./host.js";

export const EXIT_REFUSED = 1;
export const EXIT_USAGE = 2;

/** A refusal whose output is already written; ends the process with its exit code. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
  constructor(readonly exitCode: typeof EXIT_REFUSED | typeof EXIT_USAGE = EXIT_REFUSED) {
    super();
  }
}

/**
 * Fermata's own text with its commands as they are called here: `fermata migrate` in a code span, or behind a prompt,
 * may have to be `npx fermata migrate`.
 */
export function callable({ invocation }: Pick<CliHost, "invocation">, text: string): string {
  return text.replace(/(?<=`(?:sudo -u \S+ )?|\$ )fermata (?=[a-z])/g, `${invocation} `);
}

/** Adds a subcommand that takes `--json`, with examples in its help. */
export function addCommand(parent: Command, spec: string, summary: string, examples: readonly string[]): Command {
  const lines = examples.map((example) => `  $ fermata ${example}`).join("\n");
  return parent
    .command(spec)
    .description(summary)
    .option("--json", "print one JSON document to stdout")
    .addHelpText("after", `\nExamples:\n${lines}\n`);
}

/** A group such as `accounts`, which does nothing by itself. */
export function addGroup(parent: Command, name: string, summary: string): Command {
  return parent.command(name).description(summary);
}

/**
 * Prints a result: as one JSON document with `--json`, else as lines for people. What came from callers or providers
 * cannot steer the terminal: it is shown as escapes.
 */
export function print(
  host: CliHost,
  options: { readonly json?: boolean },
  value: unknown,
  lines: readonly string[],
): void {
  const text = options.json === true ? JSON.stringify(value, null, 2) : lines.join("\n");
  host.stdout.write(`${printableLines(text)}\n`);
}

/** Opens the app for one command and always closes it. */
export async function withApp<T>(
  host: CliHost,
  work: (app: OperatorApp, present: Presenters) => Promise<T>,
): Promise<T> {
  const { app, present } = await host.open();
  try {
    return await work(app, present);
  } finally {
    await app.close();
  }
}

/** The id of an account that an operator names by id or by name. @throws {OperationRefusedError} as `accounts.find` */
export async function accountIn(app: OperatorApp, given: string): Promise<AccountId> {
  return (await app.accounts.find(given)).id;
}

/** Shows on a terminal that long work goes on, and for how long; anywhere else nothing. */
export async function withProgress<T>(host: CliHost, text: string, work: () => Promise<T>): Promise<T> {
  if (host.stderr.isTTY !== true) return work();
  // Loaded when needed: a server that starts has no use for it.
  const { default: ora } = await import("ora");
  const spinner = ora({ text, stream: host.stderr });
  const startedAt = Date.now();
  const ticking = setInterval(() => {
    spinner.text = `${text} (${Math.round((Date.now() - startedAt) / 1000)} s)`;
  }, 1_000);
  spinner.start();
  try {
    return await work();
  } finally {
    clearInterval(ticking);
    spinner.stop();
  }
}

/** `name  value` lines with the values in one column; a row stays one line with any text in its cells. */
export function table(cells: readonly (readonly string[])[]): string[] {
  const rows = cells.map((row) => row.map(printable));
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, cell.length)));
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

export function iso(time: number): string;
export function iso(time: number | null): string | null;
export function iso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
