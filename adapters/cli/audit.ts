import { type Command, Option } from "commander";
import { AUDIT_ACTIONS, type AuditAction, type AuditRecord } from "../../core/ports/audit-record.js";
import type { CliHost } from "./host.js";
import { accountIn, addCommand, addGroup, CommandFailed, iso, print, table, withApp, withProgress } from "./output.js";
import { moment, wholeNumberWithin } from "./values.js";

interface ListOptions {
  readonly since?: number;
  readonly account?: string;
  readonly action?: AuditAction;
  readonly limit: number;
  readonly json?: boolean;
}

/** `audit …`. */
export function addAuditCommands(program: Command, host: CliHost): void {
  const audit = addGroup(program, "audit", "What operators did, and whether the record of it is whole");
  addCommand(audit, "list", "List what operators did, newest first", [
    "audit list",
    "audit list --since 2026-11-20 --account acct_01j… --action accounts.suspend --json",
  ])
    .option("--since <time>", "from this time on, in ISO 8601", moment)
    .option("--account <account>", "only what is about this account")
    .addOption(new Option("--action <action>", "only this").choices(AUDIT_ACTIONS))
    .option("--limit <n>", "at most this many, 1 to 10000", wholeNumberWithin(1, 10_000), 100)
    .action(async ({ since, account, action, limit, ...options }: ListOptions) => {
      const list = await withApp(host, async (app) =>
        app.audit.list({
          limit,
          ...(since === undefined ? {} : { since }),
          ...(account === undefined ? {} : { accountId: await accountIn(app, account) }),
          ...(action === undefined ? {} : { action }),
        }),
      );
      const rows = table(list.map(toCells));
      print(host, options, { records: list.map(presentRecord) }, rows.length === 0 ? ["No records."] : rows);
    });
  addCommand(audit, "verify", "Follow the chain of records; exit code 1 with the first that is wrong", [
    "audit verify",
    "audit verify --head 5f1d… --json",
  ])
    .option("--head <hash>", "the head of an earlier verification, which must still be in the chain")
    .action(async ({ head: expected, ...options }: { head?: string; json?: boolean }) => {
      const found = await withApp(host, (app) => withProgress(host, "Verifying", () => app.audit.verify(expected)));
      const { count, head, broken } = found;
      print(host, options, { ok: broken === null, count, head, broken }, [
        `${count} record${count === 1 ? "" : "s"} follow each other without a break.`,
        `head  ${head}`,
        ...(broken === null ? [] : [`Record ${broken.number} is wrong: ${broken.problem}.`]),
      ]);
      if (broken !== null) throw new CommandFailed();
    });
}

function presentRecord(record: AuditRecord): object {
  return {
    number: record.number,
    id: record.id,
    at: iso(record.createdAt),
    actor: record.actor,
    action: record.action,
    account: record.accountId,
    targets: record.targets,
    fields: record.fields,
    previous_hash: record.previousHash,
    hash: record.hash,
  };
}

function toCells({ number, createdAt, actor, action, targets, fields }: AuditRecord): string[] {
  const notified = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return [String(number), iso(createdAt), actor, action, [...targets, ...notified].join(" ")];
}
