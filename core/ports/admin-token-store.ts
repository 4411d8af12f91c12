import type { AdminTokenId } from "../ids.js";
import type { AdminToken } from "./admin-token.js";
import type { Transaction } from "./unit-of-work.js";

/** Tokens of operators for the admin API: a few dozen. Selected by `storage.url`. */
export interface AdminTokenStore {
  insertAdminToken(tx: Transaction, token: AdminToken): Promise<void>;
  /** The token with this hash, a revoked one included; null when there is none. */
  findAdminToken(tokenHash: string): Promise<AdminToken | null>;
  /** All, newest first. */
  listAdminTokens(): Promise<AdminToken[]>;
  /** Marks a token as revoked; a second time keeps the first moment. False when there is no such token. */
  revokeAdminToken(tx: Transaction, id: AdminTokenId, at: number): Promise<boolean>;
}
