import type { Account, ApiKey } from "./account.js";
import type { AccountId, ApiKeyId } from "../ids.js";
import type { Transaction } from "./unit-of-work.js";

export type AccountChanges = Partial<
  Pick<
    Account,
    | "externalId"
    | "name"
    | "tier"
    | "emailVerified"
    | "termsAcceptedAt"
    | "suspendedAt"
    | "suspendedReason"
    | "deletedAt"
  >
>;

export interface AccountFilter {
  /** Only those that are deleted; by default they are left out. */
  readonly isDeleted?: boolean;
  /** Only those that are suspended. */
  readonly isSuspended?: boolean;
  /** Only those of this tier. */
  readonly tier?: string;
  /** Only those of exactly this name; case counts. */
  readonly name?: string;
  /** Only those whose name contains this text, in whichever case, or whose id or external id it is. */
  readonly search?: string;
  /** Only those after this one in the list; not together with `isSuspended`. */
  readonly after?: AccountId;
  readonly limit: number;
}

/** An account with the key that authenticated it. */
export interface KeyHolder {
  readonly key: ApiKey;
  readonly account: Account;
}

/** A use of a key. */
export interface KeyUse {
  readonly id: ApiKeyId;
  readonly usedAt: number;
  /** Where a use after this moment is stored already, nothing is written. */
  readonly unlessAfter: number;
}

/** Accounts and their API keys. Selected by `storage.url`. */
export interface AccountStore {
  /**
   * Adds accounts, each with an empty balance.
   *
   * @throws {Error} another account has one of their external ids: a lost race, after which a unit of work runs again
   */
  insertAccounts(tx: Transaction, accounts: readonly Account[]): Promise<void>;
  /** Unknown ids are left out. */
  findAccounts(ids: readonly AccountId[]): Promise<Map<AccountId, Account>>;
  /** By external id, compared byte by byte; unknown ones are left out. What was committed before the call is found. */
  findByExternalIds(externalIds: readonly string[]): Promise<Map<string, Account>>;
  /** Newest first, which ids are in order of; suspended ones by the moment of their suspension. */
  listAccounts(filter: AccountFilter): Promise<Account[]>;
  /** The ids of all suspended accounts, and of deleted ones that are not erased yet. */
  listSuspended(): Promise<AccountId[]>;
  /** False when there is no such account. */
  updateAccount(tx: Transaction, id: AccountId, changes: AccountChanges): Promise<boolean>;
  /** True while no account was ever created. */
  isEmpty(): Promise<boolean>;

  insertKeys(tx: Transaction, keys: readonly ApiKey[]): Promise<void>;
  /** The keys with these token hashes, revoked ones included, by hash; unknown hashes are left out. */
  findKeyHolders(tokenHashes: readonly string[]): Promise<Map<string, KeyHolder>>;
  /** All keys of an account, newest first. */
  listKeys(accountId: AccountId): Promise<ApiKey[]>;
  /** Writes when keys were last used; unknown keys are left out. */
  noteKeyUses(tx: Transaction, uses: readonly KeyUse[]): Promise<void>;
  /** Marks a key as revoked; a second time keeps the first moment. False when there is no such key. */
  revokeKey(tx: Transaction, id: ApiKeyId, at: number): Promise<boolean>;
  /**
   * Marks an account's keys as revoked, or those of all accounts; one that is revoked keeps its moment.
   *
   * @param accountId null: of all accounts
   * @returns how many were not revoked before
   */
  revokeKeys(tx: Transaction, accountId: AccountId | null, at: number): Promise<number>;
}
