import { basename, dirname, resolve } from "node:path";
import type { Command } from "commander";
import { monthsBefore } from "../../core/credits/archive-file.js";
import type { LedgerVerification } from "../../core/credits/verify-ledger.js";
import { OperationRefusedError } from "../../core/errors.js";
import { archiveFolder } from "./archive-folder.js";
import type { CliHost } from "./host.js";
import { addCommand, addGroup, CommandFailed, print, withApp, withProgress } from "./output.js";
import { wholeNumber } from "./values.js";

interface VerifyFlags {
  readonly full?: boolean;
  readonly archives?: string;
  readonly json?: boolean;
}

interface ArchiveFlags {
  readonly olderThan?: number;
  readonly archives?: string;
  readonly json?: boolean;
}

/** `ledger …`. */
export function addLedgerCommands(program: Command, host: CliHost): void {
  const ledger = addGroup(program, "ledger", "Verify and archive the ledger");
  addCommand(ledger, "verify", "Check what is new in the ledger; exit code 1 with the rows that break an invariant", [
    "ledger verify",
    "ledger verify --full --json",
    "ledger verify --archives /var/backups/ledger",
  ])
    .option("--full", "check every invariant on all rows, and that what was verified before is unchanged")
    .option("--archives <folder>", "check the archives in this folder as well")
    .action((options: VerifyFlags) => verify(host, options));
  addCommand(ledger, "archive", "Move old entries of the ledger to files; their sums stay", [
    "ledger archive",
    "ledger archive --older-than 24",
  ])
    .option("--older-than <months>", "entries older than this; default: ledger.keepMonths", wholeNumber)
    .option("--archives <folder>", "where the files are; default: ledger.archiveDir")
    .action((options: ArchiveFlags) => archive(host, options));
  addCommand(ledger, "restore <file>", "Put the entries of an archive back into the ledger", [
    "ledger restore data/ledger-archives/ledger-000001.jsonl",
  ]).action((file: string, options: { readonly json?: boolean }) => restore(host, file, options));
}

async function verify(host: CliHost, { full = false, archives, ...options }: VerifyFlags): Promise<void> {
  const { found, ofArchives } = await withApp(host, (app) =>
    withProgress(host, "Checking the ledger", async () => ({
      found: await app.credits.verify({ full }),
      ofArchives: archives === undefined ? [] : await app.ledgerArchives.check(archiveFolder(resolve(archives))),
    })),
  );
  const { checked } = found;
  const violations = [...found.violations, ...ofArchives];
  const ok = violations.length === 0;
  const total = checked.accounts + checked.entries + checked.jobs;
  print(host, options, { ok, checked: total, violations, full: found.isFull, last_full_at: lastFullAt(found) }, [
    ...violations.map(({ invariant, subject, found: what }) => `${invariant}  ${subject}  ${what}`),
    summaryOf(found, violations.length),
  ]);
  if (!ok) throw new CommandFailed();
}

async function archive(host: CliHost, { olderThan, archives, ...options }: ArchiveFlags): Promise<void> {
  const written = await withApp(host, async (app) => {
    const { keepMonths, archiveDir } = app.ledgerSettings;
    const months = olderThan ?? keepMonths;
    if (months === null) throw new OperationRefusedError("Set ledger.keepMonths, or say --older-than.");
    const folder = archiveFolder(archives === undefined ? archiveDir : resolve(archives));
    const work = () => app.ledgerArchives.archive(folder, monthsBefore(app.now(), months));
    return withProgress(host, "Archiving the ledger", work);
  });
  const files = written.map(({ file, entries, sha256 }) => ({ file, entries, sha256 }));
  const entries = files.reduce((sum, one) => sum + one.entries, 0);
  print(host, options, { entries, archives: files }, [
    ...files.map((one) => `${one.file}  ${one.entries} entries  sha256 ${one.sha256}`),
    entries === 0 ? "There was nothing to archive." : `${entries} entries archived.`,
  ]);
}

async function restore(host: CliHost, path: string, options: { readonly json?: boolean }): Promise<void> {
  const file = basename(path);
  const entries = await withApp(host, (app) =>
    withProgress(host, "Restoring the ledger", () =>
      app.ledgerArchives.restore(archiveFolder(resolve(dirname(path))), file),
    ),
  );
  print(host, options, { file, entries }, [`${entries} entries of ${file} are back in the ledger.`]);
}

function summaryOf(found: LedgerVerification, violations: number): string {
  const { checked, isFull } = found;
  const what = isFull
    ? `${checked.accounts} accounts, ${checked.entries} entries and ${checked.jobs} jobs checked`
    : `${checked.accounts} accounts checked; ${checked.entries} entries and ${checked.jobs} jobs are new since. ` +
      `Last full check: ${lastFullAt(found) ?? "none"}`;
  return violations === 0 ? `${what}: all is well.` : `${what}: ${violations} rows break an invariant.`;
}

function lastFullAt({ fullAt }: LedgerVerification): string | null {
  return fullAt === null ? null : new Date(fullAt).toISOString();
}
