import type { Account, ApiKey } from "../../../core/accounts/account.js";
import type { AccountId, ApiKeyId } from "../../../core/ids.js";
import { fromJson } from "./rows.js";
import type { Table } from "./session.js";

export interface AccountRow {
  id: AccountId;
  name: string;
  tier: string;
  /** 0 or 1 */
  email_verified: number;
  terms_accepted_at: number | null;
  suspended_at: number | null;
  suspended_reason: string | null;
  created_at: number;
}

export const ACCOUNTS: Table<AccountRow> = {
  name: "accounts",
  columns: [
    "id",
    "name",
    "tier",
    "email_verified",
    "terms_accepted_at",
    "suspended_at",
    "suspended_reason",
    "created_at",
  ],
  key: ["id"],
};

export function toAccountRow(account: Account): AccountRow {
  return {
    id: account.id,
    name: account.name,
    tier: account.tier,
    email_verified: Number(account.emailVerified),
    terms_accepted_at: account.termsAcceptedAt,
    suspended_at: account.suspendedAt,
    suspended_reason: account.suspendedReason,
    created_at: account.createdAt,
  };
}

export function toAccount(row: AccountRow): Account {
  return {
    id: row.id,
    name: row.name,
    tier: row.tier,
    emailVerified: Boolean(row.email_verified),
    termsAcceptedAt: row.terms_accepted_at,
    suspendedAt: row.suspended_at,
    suspendedReason: row.suspended_reason,
    createdAt: row.created_at,
  };
}

export interface ApiKeyRow {
  id: ApiKeyId;
  account_id: AccountId;
  name: string | null;
  token_hash: string;
  shown_prefix: string;
  scopes: string;
  created_at: number;
  revoked_at: number | null;
  expires_at: number | null;
}

export const API_KEYS: Table<ApiKeyRow> = {
  name: "api_keys",
  columns: [
    "id",
    "account_id",
    "name",
    "token_hash",
    "shown_prefix",
    "scopes",
    "created_at",
    "revoked_at",
    "expires_at",
  ],
  key: ["id"],
};

export function toApiKeyRow(key: ApiKey): ApiKeyRow {
  return {
    id: key.id,
    account_id: key.accountId,
    name: key.name,
    token_hash: key.tokenHash,
    shown_prefix: key.shownPrefix,
    scopes: JSON.stringify(key.scopes),
    created_at: key.createdAt,
    revoked_at: key.revokedAt,
    expires_at: key.expiresAt,
  };
}

export function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    tokenHash: row.token_hash,
    shownPrefix: row.shown_prefix,
    scopes: fromJson<ApiKey["scopes"]>(row.scopes),
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    expiresAt: row.expires_at,
  };
}
