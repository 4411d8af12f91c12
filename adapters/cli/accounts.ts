import type { Command } from "commander";
import type { Account, ApiKey } from "../../core/accounts/account.js";
import type { CliHost } from "./host.js";
import { addCommand, addGroup, iso, print, table, withApp } from "./output.js";
import { wholeNumber } from "./values.js";

interface CreateOptions {
  readonly tier: string;
  readonly acceptTerms?: boolean;
  readonly emailVerified?: boolean;
  readonly credits?: number;
  readonly json?: boolean;
}

/** `accounts …` and `keys …`. */
export function addAccountCommands(program: Command, host: CliHost): void {
  const accounts = addGroup(program, "accounts", "Make and look at accounts");
  addCommand(accounts, "create <name>", "Make an account", [
    "accounts create alice --tier plus --accept-terms --credits 100",
    "accounts create bob --tier free --json",
  ])
    .requiredOption("--tier <tier>", "a tier named in config")
    .option("--accept-terms", "the account has accepted the API terms; without it every request answers 403")
    .option("--email-verified", "the account's address is verified")
    .option("--credits <n>", "monthly credits granted at once", wholeNumber)
    .action(async (name: string, options: CreateOptions) => {
      const account = await withApp(host, (app) => app.accounts.create({ ...options, name }));
      print(host, options, presentAccount(account), describeAccount(account));
    });
  addCommand(accounts, "accept-terms <id>", "Note that an account has accepted the API terms", [
    "accounts accept-terms acct_01j…",
  ]).action(async (id: string, options: { json?: boolean }) => {
    const account = await withApp(host, (app) => app.accounts.acceptTerms(id));
    print(host, options, presentAccount(account), describeAccount(account));
  });
  addCommand(accounts, "show <id>", "Show an account", ["accounts show acct_01j…"]).action(
    async (id: string, options: { json?: boolean }) => {
      const account = await withApp(host, (app) => app.accounts.get(id));
      print(host, options, presentAccount(account), describeAccount(account));
    },
  );
  addKeyCommands(program, host);
}

function addKeyCommands(program: Command, host: CliHost): void {
  const keys = addGroup(program, "keys", "Issue and revoke API keys");
  addCommand(keys, "issue <account>", "Issue an API key; it is shown this once", [
    "keys issue acct_01j… --name ci",
    "keys issue acct_01j… --scopes models:read,generations:read",
  ])
    .option("--scopes <list>", "comma-separated; all by default", (list: string) => list.split(",").map((scope) => scope.trim()))
    .option("--name <name>", "a label for lists")
    .action(async (accountId: string, options: { scopes?: string[]; name?: string; json?: boolean }) => {
      const { key, token } = await withApp(host, (app) => app.accounts.issueKey(accountId, options));
      print(host, options, { id: key.id, key: token, scopes: key.scopes }, [
        `key     ${token}`,
        `id      ${key.id}`,
        `scopes  ${key.scopes.join(", ")}`,
        "The key is not kept and cannot be shown again.",
      ]);
    });
  addCommand(keys, "list <account>", "List an account's keys, newest first", ["keys list acct_01j…"]).action(
    async (accountId: string, options: { json?: boolean }) => {
      const list = await withApp(host, (app) => app.accounts.listKeys(accountId));
      const rows = list.map((key) => [key.id, `${key.shownPrefix}…`, key.revokedAt === null ? "active" : "revoked", key.name ?? ""]);
      print(host, options, { keys: list.map(presentKey) }, rows.length === 0 ? ["No keys."] : table(rows));
    },
  );
  addCommand(keys, "revoke <key_id>", "Revoke a key; it stops working everywhere within a second", ["keys revoke key_01j…"]).action(
    async (id: string, options: { json?: boolean }) => {
      await withApp(host, (app) => app.accounts.revokeKey(id));
      print(host, options, { id, revoked: true }, [`Revoked ${id}.`]);
    },
  );
}

function presentAccount(account: Account): object {
  return {
    id: account.id,
    name: account.name,
    tier: account.tier,
    email_verified: account.emailVerified,
    terms_accepted_at: iso(account.termsAcceptedAt),
    created_at: iso(account.createdAt),
  };
}

function describeAccount(account: Account): string[] {
  return table([
    ["id", account.id],
    ["name", account.name],
    ["tier", account.tier],
    ["terms", account.termsAcceptedAt === null ? "not accepted: every request answers 403" : `accepted ${iso(account.termsAcceptedAt)}`],
    ["created", iso(account.createdAt)],
  ]);
}

function presentKey(key: ApiKey): object {
  return {
    id: key.id,
    name: key.name,
    prefix: key.shownPrefix,
    scopes: key.scopes,
    created_at: iso(key.createdAt),
    revoked_at: iso(key.revokedAt),
  };
}
