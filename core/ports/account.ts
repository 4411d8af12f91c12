import type { AccountId, ApiKeyId } from "../ids.js";
import type { Scope } from "./scopes.js";

export interface Account {
  readonly id: AccountId;
  /**
   * The user that an app around Fermata created it for, as that app calls them: 1 to 255 printable characters, of at
   * most one account. null for all others, and once it is deleted. It never changes otherwise.
   */
  readonly externalId: string | null;
  /** A label for operators, 1 to 100 characters; `(deleted)` once it is deleted. */
  readonly name: string;
  readonly tier: string;
  readonly emailVerified: boolean;
  /** null until the API terms are accepted: every endpoint then returns 403. */
  readonly termsAcceptedAt: number | null;
  /** When an operator suspended it; null while it is not. Requests with its keys then return 403. */
  readonly suspendedAt: number | null;
  /** For operators only, 1 to 200 characters; null when none was given. */
  readonly suspendedReason: string | null;
  /** When it was deleted; null while it is not. Its id and its ledger stay. */
  readonly deletedAt: number | null;
  readonly createdAt: number;
}

export interface ApiKey {
  readonly id: ApiKeyId;
  readonly accountId: AccountId;
  readonly name: string | null;
  /** SHA-256 of the token; the token itself is shown once and never kept. */
  readonly tokenHash: string;
  /** The first characters of the token, for lists. */
  readonly shownPrefix: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly revokedAt: number | null;
  /** From this moment on it is treated like a revoked key; null: never. */
  readonly expiresAt: number | null;
  /** Of its last use, or up to about a minute before; null: it was never used, or not since this is known. */
  readonly lastUsedAt: number | null;
}
