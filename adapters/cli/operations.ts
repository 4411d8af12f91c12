import type { Command } from "commander";
import type { CheckResult } from "../../core/ports/self-check.js";
import type { CliHost, RunMode, RunOptions } from "./host.js";
import { addCommand, callable, CommandFailed, print, table, withProgress } from "./output.js";

const MODES: Readonly<Record<RunMode, string>> = {
  start: "Migrate, then serve the API and work on jobs in one process",
  serve: "Serve the API; jobs are left to `work` processes",
  work: "Work on jobs; no public port",
};

/** `start`, `serve`, `work`, `migrate` and `doctor`. */
export function addOperationCommands(program: Command, host: CliHost): void {
  for (const mode of ["start", "serve", "work"] as const) {
    addCommand(program, mode, MODES[mode], [mode, `${mode} --json`]).action(async (options: RunOptions) => {
      if (!(await host.run(mode, options))) throw new CommandFailed();
    });
  }
  addCommand(program, "migrate", "Bring the storage's schema up to date", ["migrate"]).action(
    async (options: { json?: boolean }) => {
      const applied = await withProgress(host, "Migrating", () => host.migrate());
      const lines = applied.length === 0 ? ["The schema is up to date."] : applied.map((name) => `Applied ${name}.`);
      print(host, options, { applied }, lines);
    },
  );
  addCommand(program, "doctor", "Check the installation, and say how to fix what is wrong", [
    "doctor",
    "doctor --json",
  ]).action(async (options: { json?: boolean }) => {
    const found = await withProgress(host, "Checking", () => host.doctor());
    const inCalls = (text: string): string => callable(host, text);
    const checks = found.map(({ message, fix, ...check }) => ({
      ...check,
      message: inCalls(message),
      fix: fix === null ? null : inCalls(fix),
    }));
    const ok = checks.every(({ result }) => result !== "failed");
    // `mend` is the older name, for one minor version.
    const shown = checks.map((check) => ({ ...check, mend: check.fix }));
    print(host, options, { ok, checks: shown }, diagnosis(checks));
    if (!ok) throw new CommandFailed();
  });
}

/** A line for each check, beneath it how to fix what is not ok, and at the end how many there are of each kind. */
function diagnosis(checks: readonly CheckResult[]): string[] {
  const rows = table(checks.map(({ result, name, message }) => [result, name, message]));
  const lines = checks.flatMap(({ fix }, index) => [rows[index] ?? "", ...(fix === null ? [] : [`          ${fix}`])]);
  const count = (result: CheckResult["result"]): number => checks.filter((check) => check.result === result).length;
  const warnings = count("warning");
  return [...lines, `${count("ok")} ok, ${warnings} warning${warnings === 1 ? "" : "s"}, ${count("failed")} failed`];
}
