import type { AdminTokenId } from "../../../../core/ids.js";
import type { AdminTokenStore } from "../../../../core/ports/admin-token-store.js";
import type { AdminToken } from "../../../../core/ports/admin-token.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import type { KnexDatabase } from "../database.js";
import { columnsOf, sessionOf } from "../session.js";
import { plain, type RowOf, table } from "../table.js";

const ADMIN_TOKENS = table(
  "admin_tokens",
  {
    id: plain<AdminTokenId>(),
    name: plain<string>(),
    role: plain<AdminToken["role"]>(),
    tokenHash: plain<string>(),
    shownPrefix: plain<string>(),
    createdAt: plain<number>(),
    expiresAt: plain<number | null>(),
    revokedAt: plain<number | null>(),
  },
  ["id"],
);
type AdminTokenRow = RowOf<typeof ADMIN_TOKENS>;

const FIND = `SELECT ${columnsOf(ADMIN_TOKENS)} FROM {admin_tokens} WHERE token_hash = ?`;
const LIST = `SELECT ${columnsOf(ADMIN_TOKENS)} FROM {admin_tokens} ORDER BY id DESC`;
const REVOKE = "UPDATE {admin_tokens} SET revoked_at = COALESCE(revoked_at, ?) WHERE id = ?";

export class KnexAdminTokenStore implements AdminTokenStore {
  constructor(private readonly database: KnexDatabase) {}

  async insertAdminToken(tx: Transaction, token: AdminToken): Promise<void> {
    await sessionOf(tx).insert(ADMIN_TOKENS, [ADMIN_TOKENS.toRow(token)]);
  }

  async findAdminToken(tokenHash: string): Promise<AdminToken | null> {
    const [row] = await this.database.reading((session) => session.all<AdminTokenRow>(FIND, [tokenHash]));
    return row === undefined ? null : ADMIN_TOKENS.fromRow(row);
  }

  async listAdminTokens(): Promise<AdminToken[]> {
    const rows = await this.database.reading((session) => session.all<AdminTokenRow>(LIST));
    return rows.map(ADMIN_TOKENS.fromRow);
  }

  async revokeAdminToken(tx: Transaction, id: AdminTokenId, at: number): Promise<boolean> {
    return (await sessionOf(tx).run(REVOKE, [at, id])) > 0;
  }
}
