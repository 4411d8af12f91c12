import type { Command } from "commander";
import type { CliHost } from "./host.js";
import { addCommand, addGroup, CommandFailed, EXIT_USAGE, print, table } from "./output.js";

/** `config …`. */
export function addConfigCommands(program: Command, host: CliHost): void {
  const config = addGroup(program, "config", "The settings: what is in force, and what is wrong with them");
  addCommand(config, "print", "Show every setting with its value and where it comes from; secrets are masked", [
    "config print",
    "config print --json",
  ]).action(async (options: { json?: boolean }) => {
    const settings = await host.showSettings();
    const rows = settings.map(({ path, value, source }) => [path, JSON.stringify(value), source ?? "default"]);
    print(host, options, { settings }, table(rows));
  });
  addCommand(config, "check", "Name everything that is wrong with the settings; exit code 2 if anything is", [
    "config check",
    "config check --json",
  ]).action(async (options: { json?: boolean }) => {
    const { issues, notes } = await host.checkSettings();
    const ok = issues.length === 0;
    print(host, options, { ok, issues, notes }, [
      ...issues.map((issue) => `issue  ${issue}`),
      ...notes.map((note) => `note   ${note}`),
      ok ? "The settings are valid." : `${issues.length} issue${issues.length === 1 ? "" : "s"}.`,
    ]);
    if (!ok) throw new CommandFailed(EXIT_USAGE);
  });
}
