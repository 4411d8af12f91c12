import type { Command } from "commander";
import type { LedgerVerification } from "../../core/credits/verify-ledger.js";
import type { CliHost } from "./host.js";
import { addCommand, addGroup, CommandFailed, print, withApp, withProgress } from "./output.js";

/** `ledger …`. */
export function addLedgerCommands(program: Command, host: CliHost): void {
  const ledger = addGroup(program, "ledger", "Verify the ledger");
  addCommand(ledger, "verify", "Check what is new in the ledger; exit code 1 with the rows that break an invariant", [
    "ledger verify",
    "ledger verify --full --json",
  ])
    .option("--full", "check every invariant on all rows, and that what was verified before is unchanged")
    .action(async (options: { readonly full?: boolean; readonly json?: boolean }) => {
      const found = await withApp(host, (app) =>
        withProgress(host, "Checking the ledger", () => app.credits.verify({ full: options.full === true })),
      );
      const { checked, violations } = found;
      const ok = violations.length === 0;
      const total = checked.accounts + checked.entries + checked.jobs;
      print(host, options, { ok, checked: total, violations, full: found.isFull, last_full_at: lastFullAt(found) }, [
        ...violations.map(({ invariant, subject, found: what }) => `${invariant}  ${subject}  ${what}`),
        summaryOf(found),
      ]);
      if (!ok) throw new CommandFailed();
    });
}

function summaryOf(found: LedgerVerification): string {
  const { checked, violations, isFull } = found;
  const what = isFull
    ? `${checked.accounts} accounts, ${checked.entries} entries and ${checked.jobs} jobs checked`
    : `${checked.accounts} accounts checked; ${checked.entries} entries and ${checked.jobs} jobs are new since. ` +
      `Last full check: ${lastFullAt(found) ?? "none"}`;
  return violations.length === 0 ? `${what}: all is well.` : `${what}: ${violations.length} rows break an invariant.`;
}

function lastFullAt({ fullAt }: LedgerVerification): string | null {
  return fullAt === null ? null : new Date(fullAt).toISOString();
}
