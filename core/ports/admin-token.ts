import type { AdminTokenId } from "../ids.js";

/**
 * What an operator's token may do, each more than the one before:
 * - `read`: look at everything but secrets
 * - `operate`: change what runs: jobs, keys, accounts, webhooks
 * - `owner`: also what costs or cannot be taken back: grant credits, delete accounts, issue tokens
 */
export const ADMIN_ROLES = ["read", "operate", "owner"] as const;

export type AdminRole = (typeof ADMIN_ROLES)[number];

/** A token for the admin API. */
export interface AdminToken {
  readonly id: AdminTokenId;
  /** Who uses it, for the audit log: 1 to 60 characters. */
  readonly name: string;
  readonly role: AdminRole;
  /** SHA-256 of the token; the token itself is shown once and never kept. */
  readonly tokenHash: string;
  /** The first characters of the token, for lists. */
  readonly shownPrefix: string;
  readonly createdAt: number;
  /** From this moment on it is treated like a revoked token; null: never. */
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}
