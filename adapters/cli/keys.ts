import { type Command, InvalidArgumentError } from "commander";
import type { IssuedKey } from "../../core/accounts/manage-accounts.js";
import type { ShownKey } from "../../core/accounts/shown-key.js";
import { OperationRefusedError } from "../../core/errors.js";
import type { CliHost } from "./host.js";
import { accountIn, addCommand, addGroup, iso, print, table, withApp } from "./output.js";
import { expiry } from "./values.js";

interface IssueOptions {
  readonly scopes?: readonly string[];
  readonly name?: string;
  readonly expires?: (now: number) => number;
  readonly json?: boolean;
}

interface RevokeOptions {
  readonly account?: string;
  readonly all?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** `keys …`. */
export function addKeyCommands(program: Command, host: CliHost): void {
  const keys = addGroup(program, "keys", "Issue, list and revoke API keys");
  addIssue(keys, host);
  addCommand(keys, "list <account>", "List an account's keys, newest first", ["keys list acct_01j…"]).action(
    async (accountId: string, options: { json?: boolean }) => {
      await withApp(host, async (app) => {
        const list = await app.accounts.listKeys(await accountIn(app, accountId));
        const now = app.now();
        const rows = list.map((key) => [
          ...[key.id, `${key.shownPrefix}…`, describeState(key, now)],
          ...[key.lastUsedAt === null ? "never used" : `used ${iso(key.lastUsedAt)}`, key.name ?? ""],
        ]);
        const shown = list.map((key) => presentKey(key, now));
        print(host, options, { keys: shown }, rows.length === 0 ? ["No keys."] : table(rows));
      });
    },
  );
  addRevoke(keys, host);
}

function addIssue(keys: Command, host: CliHost): void {
  addCommand(keys, "issue <account>", "Issue an API key; it is shown this once", [
    "keys issue acct_01j… --name ci",
    "keys issue acct_01j… --scopes models:read,generations:read --expires 90d",
  ])
    .alias("create")
    .option("--scopes <list>", "comma-separated; all by default", scopesOf)
    .option("--name <name>", "a label for lists")
    .option("--expires <when>", "a span such as 90d, 12h or 30m, or a time in ISO 8601; never by default", expiry)
    .action(async (accountId: string, { expires, scopes, name, ...options }: IssueOptions) => {
      const issued = await withApp(host, async (app) =>
        app.accounts.issueKey(await accountIn(app, accountId), {
          ...(scopes === undefined ? {} : { scopes }),
          ...(name === undefined ? {} : { name }),
          ...(expires === undefined ? {} : { expiresAt: expires(app.now()) }),
        }),
      );
      print(host, options, presentIssuedKey(issued), describeIssuedKey(issued));
    });
}

/** With its token, which is known at its creation alone. */
export function presentIssuedKey({ key, token }: IssuedKey): object {
  return { id: key.id, key: token, scopes: key.scopes, expires_at: iso(key.expiresAt) };
}

export function describeIssuedKey({ key, token }: IssuedKey): string[] {
  return [
    `key     ${token}`,
    `id      ${key.id}`,
    `scopes  ${key.scopes.join(", ")}`,
    ...(key.expiresAt === null ? [] : [`expires ${iso(key.expiresAt)}`]),
    "The key is not kept and cannot be shown again.",
  ];
}

function addRevoke(keys: Command, host: CliHost): void {
  addCommand(keys, "revoke [key_id]", "Revoke keys; they stop working everywhere within a second", [
    "keys revoke key_01j…",
    "keys revoke --account acct_01j…",
    "keys revoke --all --yes",
  ])
    .option("--account <account>", "all keys of this account")
    .option("--all", "all keys of all accounts")
    .option("--yes", "without asking, which --all does on a terminal")
    .action(
      async (
        id: string | undefined,
        { account, all = false, yes = false, ...options }: RevokeOptions,
        command: Command,
      ) => {
        const named = [id, account].filter((given) => given !== undefined).length + Number(all);
        if (named !== 1) command.error("error: name one of: a key, --account, --all");
        if (id !== undefined) {
          await withApp(host, (app) => app.accounts.revokeKey(id));
          print(host, options, { id, revoked: true }, [`Revoked ${id}.`]);
          return;
        }
        if (all && !yes) await confirmAll(host, command);
        const { accountId, count } = await withApp(host, async (app) => {
          const of = account === undefined ? null : await accountIn(app, account);
          return { accountId: of, count: await app.accounts.revokeKeys(of === null ? "all" : { accountId: of }) };
        });
        print(host, options, { account: accountId, revoked: count }, [
          `Revoked ${count} key${count === 1 ? "" : "s"}.`,
        ]);
      },
    );
}

/** @throws {OperationRefusedError} the operator does not want it */
async function confirmAll(host: CliHost, command: Command): Promise<void> {
  if (host.confirm === null) command.error("error: --all needs --yes where there is no terminal to ask on");
  const isWanted = await host.confirm?.(
    "Revoke all keys of all accounts? No caller can do anything until it has a new one.",
  );
  if (isWanted !== true) throw new OperationRefusedError("Nothing was revoked.");
}

function scopesOf(list: string): string[] {
  const scopes = list.split(",").map((scope) => scope.trim());
  if (scopes.includes("")) throw new InvalidArgumentError("Allowed: scopes, separated by commas.");
  return scopes;
}

type KeyState = "active" | "revoked" | "expired";

function stateOf({ revokedAt, expiresAt }: ShownKey, now: number): KeyState {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && now >= expiresAt ? "expired" : "active";
}

function describeState(key: ShownKey, now: number): string {
  const state = stateOf(key, now);
  return state === "active" && key.expiresAt !== null ? `active until ${iso(key.expiresAt)}` : state;
}

function presentKey(key: ShownKey, now: number): object {
  return {
    id: key.id,
    name: key.name,
    prefix: key.shownPrefix,
    scopes: key.scopes,
    state: stateOf(key, now),
    created_at: iso(key.createdAt),
    revoked_at: iso(key.revokedAt),
    expires_at: iso(key.expiresAt),
    last_used_at: iso(key.lastUsedAt),
  };
}
