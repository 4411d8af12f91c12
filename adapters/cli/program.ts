import { Command, CommanderError } from "commander";
import { FermataError } from "../../core/errors.js";
import { printableLines } from "../../core/printable.js";
import { addAccountCommands } from "./accounts.js";
import { addAdapterCommands } from "./adapters.js";
import { addAuditCommands } from "./audit.js";
import { addAdminTokenCommands } from "./admin-tokens.js";
import { addAudioCommands } from "./audio.js";
import { addCatalogueCommands } from "./catalogue.js";
import { addCreditCommands } from "./credits.js";
import { addGenerationCommands } from "./generations.js";
import type { CliHost } from "./host.js";
import { addJobCommands } from "./jobs.js";
import { addLibraryCommands } from "./library.js";
import { addOperationCommands } from "./operations.js";
import { callable, CommandFailed } from "./output.js";
import { addPlaylistCommands } from "./playlists.js";
import { addReportCommands } from "./report.js";
import { addSecretCommands } from "./secrets.js";
import { addStemCommands } from "./stems.js";
import { addPluginCommands } from "./plugins.js";
import { addWebhookCommands } from "./webhooks.js";

const EXIT_REFUSED = 1;
const EXIT_USAGE = 2;

/**
 * Runs one command. Results go to stdout, errors to stderr.
 *
 * @param argv without the interpreter and the script
 * @returns the exit code: 0 done, 1 refused or failed, 2 bad usage or settings
 */
export async function runCli(
  argv: readonly string[],
  host: CliHost,
  isUsageError: (error: unknown) => boolean,
): Promise<number> {
  try {
    await buildProgram(host).parseAsync(argv, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    if (error instanceof CommandFailed) return EXIT_REFUSED;
    host.stderr.write(`${printableLines(callable(host, messageOf(error)))}\n`);
    return isUsageError(error) ? EXIT_USAGE : EXIT_REFUSED;
  }
}

/** Every command, as its words are written: `accounts create`. */
export function commandNames(host: CliHost): string[] {
  const namesOf = (command: Command, before: readonly string[]): string[] => {
    const path = [...before, command.name()];
    return command.commands.length === 0 ? [path.join(" ")] : command.commands.flatMap((child) => namesOf(child, path));
  };
  return buildProgram(host).commands.flatMap((command) => namesOf(command, []));
}

function buildProgram(host: CliHost): Command {
  const program = new Command("fermata")
    .description("Self-hosted platform for AI music")
    .version(host.version)
    .configureOutput({
      writeOut: (text) => host.stdout.write(callable(host, text)),
      writeErr: (text) => host.stderr.write(printableLines(text)),
    })
    .showHelpAfterError("Add --help for what is allowed.")
    .addHelpText(
      "after",
      "\nSettings come from the file named by FERMATA_CONFIG and from FERMATA_… variables; see config/README.md.\n",
    )
    .exitOverride();
  addOperationCommands(program, host);
  addAccountCommands(program, host);
  addCreditCommands(program, host);
  addGenerationCommands(program, host);
  addJobCommands(program, host);
  addLibraryCommands(program, host);
  addPlaylistCommands(program, host);
  addStemCommands(program, host);
  addAudioCommands(program, host);
  addAuditCommands(program, host);
  addAdminTokenCommands(program, host);
  addReportCommands(program, host);
  addWebhookCommands(program, host);
  addSecretCommands(program, host);
  addCatalogueCommands(program, host);
  addPluginCommands(program, host);
  addAdapterCommands(program, host);
  return program;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Callers of the API must not see why the storage is unavailable; an operator needs it.
  const reason = FermataError.is(error) && error.cause instanceof Error ? error.cause.message : "";
  return error.message.includes(reason) ? error.message : `${error.message} (${reason})`;
}
