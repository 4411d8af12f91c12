import type { Command } from "commander";
import type { Account } from "../../core/ports/account.js";
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
  readonly search?: string;
  readonly tier?: string;
  readonly limit: number;
  readonly json?: boolean;
}

/** `accounts …` and `keys …`. */
export function addAccountCommands(program: Command, host: CliHost): void {
  const accounts = addGroup(program, "accounts", "Make, look at, suspend and resume accounts");
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
      const account = await withApp(host, (app) => app.accounts.find(id));
      print(host, options, presentAccount(account), describeAccount(account));
    },
  );
  addCommand(accounts, "set-tier <id> <tier>", "Give an account another tier; its credits stay as they are", [
    "accounts set-tier acct_01j… pro",
  ]).action(async (id: string, tier: string, options: { json?: boolean }) => {
    const account = await withApp(host, (app) => app.accounts.changeTier(id, tier));
    print(host, options, presentAccount(account), describeAccount(account));
  });
  addList(accounts, host);
  addSuspension(accounts, host);
  addKeyCommands(program, host);
}

function addList(accounts: Command, host: CliHost): void {
  addCommand(accounts, "list", "List accounts, newest first", ["accounts list", "accounts list --suspended --json"])
    .option("--suspended", "only those that are suspended")
    .option("--search <text>", "only those whose name contains it, or whose id or external id it is")
    .option("--tier <tier>", "only those of this tier")
    .option("--limit <n>", "at most this many, 1 to 1000", wholeNumberWithin(1, 1_000), 50)
    .action(async (options: ListOptions) => {
      const { suspended: isSuspended = false, limit, search, tier } = options;
      const filter = { ...(search === undefined ? {} : { search }), ...(tier === undefined ? {} : { tier }) };
      const list = await withApp(host, (app) => app.accounts.list({ ...filter, isSuspended, limit }));
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

function stateOf({ suspendedAt }: Account): string {
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
    ...(account.suspendedAt === null ? [] : [["suspended", iso(account.suspendedAt)]]),
    ...(account.suspendedReason === null ? [] : [["reason", account.suspendedReason]]),
    ["created", iso(account.createdAt)],
  ]);
}

function describeTerms({ termsAcceptedAt }: Account): string {
  if (termsAcceptedAt === null) return "not accepted: every request answers 403";
  return `accepted ${iso(termsAcceptedAt)}`;
}
