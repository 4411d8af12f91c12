import { type Command, Option } from "commander";
import type { ShownAdminToken } from "../../core/admin/admin-tokens.js";
import { ADMIN_ROLES } from "../../core/ports/admin-token.js";
import type { CliHost } from "./host.js";
import { addCommand, addGroup, iso, print, table, withApp } from "./output.js";
import { expiry } from "./values.js";

interface IssueOptions {
  readonly role: string;
  readonly expires?: (now: number) => number;
  readonly json?: boolean;
}

/** `admin-tokens …`. */
export function addAdminTokenCommands(program: Command, host: CliHost): void {
  const tokens = addGroup(program, "admin-tokens", "Issue, list and revoke tokens of operators for the admin API");
  addCommand(tokens, "issue <name>", "Issue a token for an operator; it is shown this once", [
    'admin-tokens issue "Zoë on call" --role operate --expires 30d',
  ])
    .addOption(new Option("--role <role>", "what it may do").choices(ADMIN_ROLES).makeOptionMandatory())
    .option("--expires <when>", "a span such as 90d, 12h or 30m, or a time in ISO 8601; never by default", expiry)
    .action(async (name: string, { role, expires, ...options }: IssueOptions) => {
      const { token, shown } = await withApp(host, (app) =>
        app.adminTokens.issue({ name, role, ...(expires === undefined ? {} : { expiresAt: expires(app.now()) }) }),
      );
      print(host, options, { ...present(shown), token }, [
        `token   ${token}`,
        `id      ${shown.id}`,
        `role    ${shown.role}`,
        ...(shown.expiresAt === null ? [] : [`expires ${iso(shown.expiresAt)}`]),
        "The token is not kept and cannot be shown again.",
      ]);
    });
  addCommand(tokens, "list", "List the tokens, newest first", ["admin-tokens list"]).action(
    async (options: { json?: boolean }) => {
      const list = await withApp(host, (app) => app.adminTokens.list());
      const rows = list.map((token) => [token.id, token.role, stateOf(token), token.name]);
      print(host, options, { tokens: list.map(present) }, rows.length === 0 ? ["No tokens."] : table(rows));
    },
  );
  addCommand(tokens, "revoke <id>", "Revoke a token; it stops working everywhere within a second", [
    "admin-tokens revoke adm_01j…",
  ]).action(async (id: string, options: { json?: boolean }) => {
    await withApp(host, (app) => app.adminTokens.revoke(id));
    print(host, options, { id, revoked: true }, [`Revoked ${id}.`]);
  });
}

function stateOf({ revokedAt, expiresAt }: ShownAdminToken): string {
  if (revokedAt !== null) return "revoked";
  return expiresAt === null ? "active" : `until ${iso(expiresAt)}`;
}

function present(token: ShownAdminToken): object {
  return {
    id: token.id,
    name: token.name,
    role: token.role,
    prefix: token.shownPrefix,
    created_at: iso(token.createdAt),
    revoked_at: iso(token.revokedAt),
    expires_at: iso(token.expiresAt),
  };
}
