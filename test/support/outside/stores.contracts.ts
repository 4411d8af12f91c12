/**
 * As an author outside of this repository tests stores: accounts in memory, and a unit of work that undoes a failed
 * transaction. `system/process/package.test.ts` copies this file into a package that has installed Fermata.
 */
import type {
  Account,
  AccountId,
  AccountStore,
  ApiKey,
  ApiKeyId,
  Balance,
  Transaction,
} from "../../../config/index.js";
import type {
  AccountChanges,
  AccountFilter,
  KeyHolder,
  KeyUse,
  Movement,
  TransactionWork,
} from "../../../config/index.js";
import type { UnitOfWork } from "../../../config/index.js";
import { accountStoreContract, audioStoreContract, storageUnderTest } from "../../contracts.js";
import { aBalance, MemoryAudioStore } from "../../index.js";

/** The rows; maps are replaced, never changed, so that an earlier state can be restored. */
interface Rows {
  readonly accounts: ReadonlyMap<AccountId, Account>;
  readonly keys: ReadonlyMap<ApiKeyId, ApiKey>;
  readonly balances: ReadonlyMap<AccountId, Balance>;
}

class MemoryDatabase {
  rows: Rows = { accounts: new Map(), keys: new Map(), balances: new Map() };
}

/** One transaction at a time. A failed one leaves the rows as they were. */
class MemoryUnitOfWork implements UnitOfWork {
  readonly concurrentWriters = 1;
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly database: MemoryDatabase) {}

  inTransaction<T>(work: TransactionWork<T>): Promise<T> {
    const result = this.last.then(() => this.run(work));
    this.last = result.catch(() => undefined);
    return result;
  }

  private async run<T>(work: TransactionWork<T>): Promise<T> {
    const before = this.database.rows;
    try {
      return await work({} as Transaction, { isRetry: false });
    } catch (error) {
      this.database.rows = before;
      throw error;
    }
  }
}

class MemoryAccountStore implements AccountStore {
  constructor(private readonly database: MemoryDatabase) {}

  async insertAccounts(_tx: Transaction, accounts: readonly Account[]): Promise<void> {
    const { rows } = this.database;
    const given = accounts.flatMap(({ externalId }) => externalId ?? []);
    const taken = await this.findByExternalIds(given);
    if (taken.size > 0 || new Set(given).size < given.length)
      throw new Error("An external id is an account's already.");
    this.database.rows = {
      ...rows,
      accounts: new Map([...rows.accounts, ...accounts.map((account) => [account.id, account] as const)]),
      balances: new Map([...rows.balances, ...accounts.map(({ id }) => [id, aBalance({ accountId: id })] as const)]),
    };
  }

  async findAccounts(ids: readonly AccountId[]): Promise<Map<AccountId, Account>> {
    return new Map([...this.database.rows.accounts].filter(([id]) => ids.includes(id)));
  }

  async findByExternalIds(externalIds: readonly string[]): Promise<Map<string, Account>> {
    const accounts = [...this.database.rows.accounts.values()];
    const entries = accounts.map((account) => [account.externalId, account] as const);
    return new Map(entries.filter((one): one is [string, Account] => one[0] !== null && externalIds.includes(one[0])));
  }

  async listAccounts({ isSuspended = false, isDeleted = false, limit, ...filter }: AccountFilter): Promise<Account[]> {
    const { tier, name: wanted, search, after } = filter;
    const isSearched = ({ id, externalId, name }: Account): boolean =>
      search === undefined || [id, externalId].includes(search) || name.toLowerCase().includes(search.toLowerCase());
    return [...this.database.rows.accounts.values()]
      .filter(({ deletedAt }) => isDeleted === (deletedAt !== null))
      .filter(({ suspendedAt }) => !isSuspended || suspendedAt !== null)
      .filter(({ name }) => wanted === undefined || name === wanted)
      .filter((account) => (tier === undefined || account.tier === tier) && isSearched(account))
      .filter(({ id }) => after === undefined || id < after)
      .sort((a, b) => (isSuspended ? (b.suspendedAt ?? 0) - (a.suspendedAt ?? 0) : 0) || compareIds(b, a))
      .slice(0, limit);
  }

  async listSuspended(): Promise<AccountId[]> {
    const accounts = [...this.database.rows.accounts.values()];
    return accounts.filter(({ suspendedAt }) => suspendedAt !== null).map(({ id }) => id);
  }

  async updateAccount(_tx: Transaction, id: AccountId, changes: AccountChanges): Promise<boolean> {
    const { rows } = this.database;
    const account = rows.accounts.get(id);
    if (account === undefined) return false;
    this.database.rows = { ...rows, accounts: new Map([...rows.accounts, [id, { ...account, ...changes }]]) };
    return true;
  }

  async isEmpty(): Promise<boolean> {
    return this.database.rows.accounts.size === 0;
  }

  async insertKeys(_tx: Transaction, keys: readonly ApiKey[]): Promise<void> {
    for (const key of keys) {
      const { rows } = this.database;
      const isKnown = [...rows.keys.values()].some(({ tokenHash }) => tokenHash === key.tokenHash);
      if (isKnown) throw new Error("There is a key with this token.");
      this.database.rows = { ...rows, keys: new Map([...rows.keys, [key.id, key]]) };
    }
  }

  async findKeyHolders(tokenHashes: readonly string[]): Promise<Map<string, KeyHolder>> {
    const { accounts, keys } = this.database.rows;
    const holders = new Map<string, KeyHolder>();
    for (const key of keys.values()) {
      const account = accounts.get(key.accountId);
      if (account !== undefined && tokenHashes.includes(key.tokenHash)) holders.set(key.tokenHash, { key, account });
    }
    return holders;
  }

  async listKeys(accountId: AccountId): Promise<ApiKey[]> {
    const keys = [...this.database.rows.keys.values()].filter((key) => key.accountId === accountId);
    return keys.sort((a, b) => b.createdAt - a.createdAt || compareIds(b, a));
  }

  async noteKeyUses(_tx: Transaction, uses: readonly KeyUse[]): Promise<void> {
    for (const { id, usedAt, unlessAfter } of uses) {
      const { rows } = this.database;
      const key = rows.keys.get(id);
      if (key === undefined || (key.lastUsedAt !== null && key.lastUsedAt > unlessAfter)) continue;
      this.database.rows = { ...rows, keys: new Map([...rows.keys, [id, { ...key, lastUsedAt: usedAt }]]) };
    }
  }

  async revokeKey(_tx: Transaction, id: ApiKeyId, at: number): Promise<boolean> {
    this.revoke(([keyId]) => keyId === id, at);
    return this.database.rows.keys.has(id);
  }

  async revokeKeys(_tx: Transaction, accountId: AccountId | null, at: number): Promise<number> {
    return this.revoke(([, key]) => accountId === null || key.accountId === accountId, at);
  }

  /** @returns how many were not revoked before */
  private revoke(isMeant: (entry: readonly [ApiKeyId, ApiKey]) => boolean, revokedAt: number): number {
    const { rows } = this.database;
    const valid = [...rows.keys].filter((entry) => isMeant(entry) && entry[1].revokedAt === null);
    const revoked = valid.map(([id, key]) => [id, { ...key, revokedAt }] as const);
    this.database.rows = { ...rows, keys: new Map([...rows.keys, ...revoked]) };
    return revoked.length;
  }
}

/** Of the ledger what the helpers of the suites use. */
class MemoryBalances {
  constructor(private readonly database: MemoryDatabase) {}

  async findBalances(ids: readonly AccountId[]): Promise<Map<AccountId, Balance>> {
    return new Map([...this.database.rows.balances].filter(([id]) => ids.includes(id)));
  }

  async apply(_tx: Transaction, movements: readonly Movement[]): Promise<void> {
    const { rows } = this.database;
    const after = movements.map(({ after: balance }) => [balance.accountId, balance] as const);
    this.database.rows = { ...rows, balances: new Map([...rows.balances, ...after]) };
  }
}

function compareIds(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : Number(a.id > b.id);
}

accountStoreContract("MemoryAccountStore", async () => {
  const database = new MemoryDatabase();
  return storageUnderTest({
    unitOfWork: new MemoryUnitOfWork(database),
    accounts: new MemoryAccountStore(database),
    ledger: new MemoryBalances(database),
  });
});

audioStoreContract("MemoryAudioStore", async () => ({
  store: new MemoryAudioStore(),
  close: () => Promise.resolve(),
}));
