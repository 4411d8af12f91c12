import { Command, CommanderError } from "commander";
import { FermataError } from "../../core/errors.js";
import { printableLines } from "../../core/printable.js";
import { addAccountCommands } from "./accounts.js";
import { addAdapterCommands } from "./adapters.js";
import { addAuditCommands } from "./audit.js";
import { addAdminTokenCommands } from "./admin-tokens.js";
import { addAudioCommands } from "./audio.js";
import { CallerFailure } from "./caller/caller-failure.js";
import { CallerApiError } from "./caller/caller-api.js";
import { addCallerCommands } from "./caller/index.js";
import { addCatalogueCommands } from "./catalogue.js";
import { addConfigCommands } from "./config.js";
import { addCreditCommands } from "./credits.js";
import { addLedgerCommands } from "./ledger.js";
import { addGenerationCommands } from "./generations.js";
import type { CliHost } from "./host.js";
import { addJobCommands } from "./jobs.js";
import { addLibraryCommands } from "./library.js";
import { addMcpCommand } from "./mcp.js";
import { addOperationCommands } from "./operations.js";
import { callable, CommandFailed, EXIT_REFUSED, EXIT_USAGE } from "./output.js";
import { addPlaylistCommands } from "./playlists.js";
import { addReportCommands } from "./report.js";
import { addSecretCommands } from "./secrets.js";
import { addStorageCommands } from "./storage.js";
import { addStudioCommands } from "./studio.js";
import { addStemCommands } from "./stems.js";
import { addPluginCommands } from "./plugins.js";
import { addWebhookCommands } from "./webhooks.js";

/**
 * Runs one command. Results go to stdout, errors to stderr; with `--json` an error is one line there:
 * `{"error":{"code","message","details"?}}`.
 *
 * @param argv without the interpreter and the script
 * @param settingsIssues a line for each issue of an error about settings; null for any other error
 * @returns the exit code: 0 done, 1 refused or failed, 2 bad usage or settings, 130 interrupted
 */
export async function runCli(
  argv: readonly string[],
  host: CliHost,
  settingsIssues: (error: unknown) => readonly string[] | null,
): Promise<number> {
  const isJson = asksForJson(argv);
  const writeError = (error: CliError): void => {
    const message = callable(host, error.message);
    const text = isJson ? JSON.stringify({ error: { ...error, message } }) : message;
    host.stderr.write(`${printableLines(text)}\n`);
  };
  try {
    await buildProgram(host, isJson).parseAsync(argv, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommandFailed) return error.exitCode;
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      // In words commander has written it.
      if (isJson) writeError({ code: "usage", message: usageMessage(error) });
      return EXIT_USAGE;
    }
    if (error instanceof CallerFailure) {
      writeError(errorOf(error));
      return error.exitCode;
    }
    const issues = settingsIssues(error);
    writeError(issues === null ? errorOf(error) : { ...errorOf(error), code: "invalid_settings", details: { issues } });
    return issues === null ? EXIT_REFUSED : EXIT_USAGE;
  }
}

interface CliError {
  /** A code of the API, or `usage`, `invalid_settings` or `failed`; of commands for callers also their own. */
  readonly code: string;
  readonly message: string;
  readonly details?: object;
}

function errorOf(error: unknown): CliError {
  const message = messageOf(error);
  if (!FermataError.is(error) && !(error instanceof CallerFailure) && !(error instanceof CallerApiError))
    return { code: "failed", message };
  return { code: error.code, message, ...(error.details === undefined ? {} : { details: error.details }) };
}

/** Commander's message without what it shows of the help. */
function usageMessage({ code, message }: CommanderError): string {
  return code === "commander.help" ? "Name a command; --help lists them." : message.replace(/^error: /, "");
}

function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end < 0 ? argv.length : end).includes("--json");
}

/** Every command, as its words are written: `accounts create`. */
export function commandNames(host: CliHost): string[] {
  const namesOf = (command: Command, before: readonly string[]): string[] => {
    const path = [...before, command.name()];
    return command.commands.length === 0 ? [path.join(" ")] : command.commands.flatMap((child) => namesOf(child, path));
  };
  return buildProgram(host).commands.flatMap((command) => namesOf(command, []));
}

/** @param isQuiet errors of commander are not written */
function buildProgram(host: CliHost, isQuiet = false): Command {
  const program = new Command("fermata")
    .description("Self-hosted platform for AI music")
    .version(host.version)
    .configureOutput({
      writeOut: (text) => host.stdout.write(callable(host, text)),
      writeErr: (text) => isQuiet || host.stderr.write(printableLines(callable(host, text))),
    })
    .showHelpAfterError("Add --help for what is allowed.")
    .addHelpText(
      "after",
      "\nSettings come from the file named by FERMATA_CONFIG and from FERMATA_… variables; see config/README.md.\n",
    )
    .exitOverride();
  addOperationCommands(program, host);
  addConfigCommands(program, host);
  addAccountCommands(program, host);
  addCreditCommands(program, host);
  addLedgerCommands(program, host);
  addGenerationCommands(program, host);
  addJobCommands(program, host);
  addLibraryCommands(program, host);
  addPlaylistCommands(program, host);
  addStemCommands(program, host);
  addAudioCommands(program, host);
  addStorageCommands(program, host);
  addStudioCommands(program, host);
  addMcpCommand(program, host);
  addAuditCommands(program, host);
  addAdminTokenCommands(program, host);
  addReportCommands(program, host);
  addWebhookCommands(program, host);
  addSecretCommands(program, host);
  addCatalogueCommands(program, host);
  addPluginCommands(program, host);
  addAdapterCommands(program, host);
  program.commandsGroup("Commands for callers of any server:");
  addCallerCommands(program, host);
  return program;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Callers of the API must not see why the storage is unavailable; an operator needs it.
  const reason = FermataError.is(error) && error.cause instanceof Error ? error.cause.message : "";
  return error.message.includes(reason) ? error.message : `${error.message} (${reason})`;
}
