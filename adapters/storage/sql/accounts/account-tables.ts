import type { ApiKey } from "../../../../core/ports/account.js";
import type { AccountId, ApiKeyId } from "../../../../core/ids.js";
import { flag, json, plain, type RowOf, table } from "../table.js";

export const ACCOUNTS = table(
  "accounts",
  {
    id: plain<AccountId>(),
    externalId: plain<string | null>(),
    name: plain<string>(),
    tier: plain<string>(),
    emailVerified: flag(),
    termsAcceptedAt: plain<number | null>(),
    suspendedAt: plain<number | null>(),
    suspendedReason: plain<string | null>(),
    deletedAt: plain<number | null>(),
    createdAt: plain<number>(),
  },
  ["id"],
);
export type AccountRow = RowOf<typeof ACCOUNTS>;

export const API_KEYS = table(
  "api_keys",
  {
    id: plain<ApiKeyId>(),
    accountId: plain<AccountId>(),
    name: plain<string | null>(),
    tokenHash: plain<string>(),
    shownPrefix: plain<string>(),
    scopes: json<ApiKey["scopes"]>(),
    createdAt: plain<number>(),
    revokedAt: plain<number | null>(),
    expiresAt: plain<number | null>(),
    lastUsedAt: plain<number | null>(),
  },
  ["id"],
);
export type ApiKeyRow = RowOf<typeof API_KEYS>;
