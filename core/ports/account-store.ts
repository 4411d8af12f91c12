import type { Account, ApiKey } from "../accounts/account.js";
import type { AccountId, ApiKeyId } from "../ids.js";
import type { Transaction } from "./unit-of-work.js";

export type AccountChanges = Partial<Pick<Account, "tier" | "emailVerified" | "termsAcceptedAt">>;

/** An account with the key that spoke for it. */
export interface KeyHolder {
  readonly key: ApiKey;
  readonly account: Account;
}

/** Accounts and their API keys. */
export interface AccountStore {
  /** Adds accounts, each with an empty balance. */
  insertAccounts(tx: Transaction, accounts: readonly Account[]): Promise<void>;
  /** Unknown ids are left out. */
  findAccounts(ids: readonly AccountId[]): Promise<Map<AccountId, Account>>;
  /** False when there is no such account. */
  updateAccount(tx: Transaction, id: AccountId, changes: AccountChanges): Promise<boolean>;
  /** True while no account was ever made. */
  isEmpty(): Promise<boolean>;

  insertKeys(tx: Transaction, keys: readonly ApiKey[]): Promise<void>;
  /** The keys with these token hashes, revoked ones included, by hash; unknown hashes are left out. */
  findKeyHolders(tokenHashes: readonly string[]): Promise<Map<string, KeyHolder>>;
  /** All keys of an account, newest first. */
  listKeys(accountId: AccountId): Promise<ApiKey[]>;
  /** Marks a key as revoked; a second time keeps the first moment. False when there is no such key. */
  revokeKey(tx: Transaction, id: ApiKeyId, at: number): Promise<boolean>;
}
