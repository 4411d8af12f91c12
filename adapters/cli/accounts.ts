import type { Command } from "commander";
import { OperationRefusedError } from "../../core/errors.js";
import type { AccountDeletion } from "../../core/ports/erasure-store.js";
import { printable } from "../../core/printable.js";
import type { Account } from "../../core/ports/account.js";
import { addExport } from "./export.js";
import type { CliHost } from "./host.js";
import { addKeyCommands, describeIssuedKey, presentIssuedKey } from "./keys.js";
import { accountIn, addCommand, addGroup, callable, iso, print, table, withApp } from "./output.js";
import { wholeNumber, wholeNumberWithin } from "./values.js";

interface CreateOptions {
  readonly tier: string;
  readonly acceptTerms?: boolean;
  readonly emailVerified?: boolean;
  readonly credits?: number;
  readonly externalId?: string;
  readonly key?: boolean;
  readonly json?: boolean;
}

interface ListOptions {
  readonly suspended?: boolean;
  readonly deleted?: boolean;
  readonly search?: string;
  readonly tier?: string;
  readonly limit: number;
  readonly json?: boolean;
}

/** `accounts …` and `keys …`. */
export function addAccountCommands(program: Command, host: CliHost): void {
  const accounts = addGroup(program, "accounts", "Make, look at, suspend, export and delete accounts");
  addCommand(accounts, "create <name>", "Make an account", [
    "accounts create alice --tier plus --accept-terms --credits 100",
    "accounts create alice --tier plus --accept-terms --key",
    "accounts create bob --tier free --json",
  ])
    .requiredOption("--tier <tier>", "a tier named in config")
    .option("--accept-terms", "the account has accepted the API terms; without it every request answers 403")
    .option("--email-verified", "the account's address is verified")
    .option("--credits <n>", "monthly credits granted at once", wholeNumber)
    .option("--external-id <id>", "whose it is in an app around Fermata; of one account at most")
    .option("--key", "issue its first API key as well, with all scopes; it is shown this once")
    .action(async (name: string, { key = false, ...options }: CreateOptions) => {
      const { account, issued } = await withApp(host, async (app) => {
        const created = await app.accounts.create({ ...options, name });
        return { account: created, issued: key ? await app.accounts.issueKey(created.id) : null };
      });
      const shown = issued === null ? {} : { key: presentIssuedKey(issued) };
      print(host, options, { ...presentAccount(account), ...shown }, [
        ...describeAccount(account),
        ...(issued === null ? [] : ["", ...describeIssuedKey(issued)]),
      ]);
    });
  addCommand(accounts, "accept-terms <account>", "Note that an account has accepted the API terms", [
    "accounts accept-terms acct_01j…",
  ]).action(async (id: string, options: { json?: boolean }) => {
    const account = await withApp(host, async (app) => app.accounts.acceptTerms(await accountIn(app, id)));
    print(host, options, presentAccount(account), describeAccount(account));
  });
  addCommand(accounts, "show <account>", "Show an account", ["accounts show acct_01j…"]).action(
    async (id: string, options: { json?: boolean }) => {
      const { account, deletion } = await withApp(host, async (app) => {
        const found = await app.accounts.find(id);
        return { account: found, deletion: found.deletedAt === null ? null : await app.accounts.deletion(found.id) };
      });
      const shown = deletion === null ? {} : { deletion: presentDeletion(deletion) };
      print(host, options, { ...presentAccount(account), ...shown }, [
        ...describeAccount(account),
        ...describeDeletion(deletion),
      ]);
    },
  );
  addCommand(accounts, "set-tier <account> <tier>", "Give an account another tier; its credits stay as they are", [
    "accounts set-tier acct_01j… pro",
  ]).action(async (id: string, tier: string, options: { json?: boolean }) => {
    const account = await withApp(host, async (app) => app.accounts.changeTier(await accountIn(app, id), tier));
    print(host, options, presentAccount(account), describeAccount(account));
  });
  addList(accounts, host);
  addSuspension(accounts, host);
  addExport(accounts, host);
  addDeletion(accounts, host);
  addKeyCommands(program, host);
}

function addList(accounts: Command, host: CliHost): void {
  addCommand(accounts, "list", "List accounts, newest first", ["accounts list", "accounts list --suspended --json"])
    .option("--suspended", "only those that are suspended")
    .option("--deleted", "only those that are deleted; they are left out by default")
    .option("--search <text>", "only those whose name contains it, or whose id or external id it is")
    .option("--tier <tier>", "only those of this tier")
    .option("--limit <n>", "at most this many, 1 to 1000", wholeNumberWithin(1, 1_000), 50)
    .action(async (options: ListOptions) => {
      const { suspended: isSuspended = false, deleted: isDeleted = false, limit, search, tier } = options;
      const filter = { ...(search === undefined ? {} : { search }), ...(tier === undefined ? {} : { tier }) };
      const list = await withApp(host, (app) => app.accounts.list({ ...filter, isSuspended, isDeleted, limit }));
      const rows = list.map((account) => [account.id, account.tier, stateOf(account), account.name]);
      print(host, options, { accounts: list.map(presentAccount) }, rows.length === 0 ? ["No accounts."] : table(rows));
    });
}

function addSuspension(accounts: Command, host: CliHost): void {
  addCommand(accounts, "suspend <account>", "Shut an account out; what it was accepted for goes on", [
    "accounts suspend acct_01j…",
    'accounts suspend acct_01j… --reason "key found in a public repository"',
  ])
    .option("--reason <text>", "for operators; the account does not see it")
    .action(async (id: string, options: { reason?: string; json?: boolean }) => {
      const reason = options.reason === undefined ? {} : { reason: options.reason };
      const account = await withApp(host, async (app) => app.accounts.suspend(await accountIn(app, id), reason));
      print(host, options, presentAccount(account), [
        ...describeAccount(account),
        "Within a second its keys answer 403, and its share pages and audio links 404, in every process.",
        callable(host, `Go on with \`fermata accounts resume ${account.id}\`.`),
      ]);
    });
  addCommand(accounts, "resume <account>", "End the suspension of an account", ["accounts resume acct_01j…"]).action(
    async (id: string, options: { json?: boolean }) => {
      const account = await withApp(host, async (app) => app.accounts.resume(await accountIn(app, id)));
      print(host, options, presentAccount(account), describeAccount(account));
    },
  );
}

function addDeletion(accounts: Command, host: CliHost): void {
  addCommand(accounts, "delete <account>", "Delete an account, and all that is stored of it but its ledger", [
    "accounts delete acct_01j…",
    "accounts delete alice --yes",
  ])
    .option("--yes", "without asking, which it does on a terminal")
    .action(async (given: string, { yes = false, ...options }: { yes?: boolean; json?: boolean }, command: Command) => {
      if (!yes && host.confirm === null) command.error("error: it needs --yes where there is no terminal to ask on");
      const deletion = await withApp(host, async (app) => {
        const { id, name } = await app.accounts.find(given);
        const question =
          `Delete the account ${printable(name)} (${id}), with its keys, jobs, tracks, files and logs? ` +
          "It cannot be taken back.";
        if (!yes && (await host.confirm?.(question)) !== true) throw new OperationRefusedError("Nothing was deleted.");
        return app.accounts.delete(id);
      });
      print(host, options, { id: deletion.accountId, ...presentDeletion(deletion) }, [
        `Deleted ${deletion.accountId}.`,
        "Within a second its keys, share pages and audio links are refused, in every process.",
        "What is stored of it is erased by the processes that work on jobs, within minutes. Its ledger stays.",
        callable(host, `How far that is: \`fermata accounts show ${deletion.accountId}\`.`),
      ]);
    });
}

function presentDeletion({ requestedAt, erasedAt, erased }: AccountDeletion): object {
  return { requested_at: iso(requestedAt), erased_at: iso(erasedAt), erased };
}

function describeDeletion(deletion: AccountDeletion | null): string[] {
  if (deletion === null) return [];
  const { erasedAt, erased } = deletion;
  const counts = Object.entries(erased).map(([kind, count]) => `${count} ${kind.replaceAll("_", " ")}`);
  return table([
    ["erased", erasedAt === null ? "not all of it yet" : iso(erasedAt)],
    ...(counts.length === 0 ? [] : [["so far", counts.join(", ")]]),
  ]);
}

function stateOf({ suspendedAt, deletedAt }: Account): string {
  if (deletedAt !== null) return "deleted";
  return suspendedAt === null ? "active" : "suspended";
}

function presentAccount(account: Account): object {
  return {
    id: account.id,
    external_id: account.externalId,
    name: account.name,
    tier: account.tier,
    email_verified: account.emailVerified,
    terms_accepted_at: iso(account.termsAcceptedAt),
    suspended_at: iso(account.suspendedAt),
    suspended_reason: account.suspendedReason,
    deleted_at: iso(account.deletedAt),
    created_at: iso(account.createdAt),
  };
}

function describeAccount(account: Account): string[] {
  return table([
    ["id", account.id],
    ...(account.externalId === null ? [] : [["external id", account.externalId]]),
    ["name", account.name],
    ["tier", account.tier],
    ["terms", describeTerms(account)],
    ["state", stateOf(account)],
    ...(account.deletedAt === null ? [] : [["deleted", iso(account.deletedAt)]]),
    ...(account.suspendedAt === null || account.deletedAt !== null ? [] : [["suspended", iso(account.suspendedAt)]]),
    ...(account.suspendedReason === null ? [] : [["reason", account.suspendedReason]]),
    ["created", iso(account.createdAt)],
  ]);
}

function describeTerms({ termsAcceptedAt }: Account): string {
  if (termsAcceptedAt === null) return "not accepted: every request answers 403";
  return `accepted ${iso(termsAcceptedAt)}`;
}
