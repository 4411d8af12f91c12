import type { Account, ApiKey } from "../../../core/accounts/account.js";
import type { AccountId, ApiKeyId } from "../../../core/ids.js";
import type { AccountChanges, AccountStore, KeyHolder } from "../../../core/ports/account-store.js";
import type { Transaction } from "../../../core/ports/unit-of-work.js";
import type { KnexDatabase } from "./database.js";
import {
  ACCOUNTS,
  type AccountRow,
  API_KEYS,
  type ApiKeyRow,
  BALANCES,
  toAccount,
  toAccountRow,
  toApiKey,
  toApiKeyRow,
  toBalanceRow,
} from "./rows.js";
import { emptyBalance } from "../../../core/credits/balance.js";
import { columnsOf, sessionOf, type SqlValue } from "./session.js";

const FIND_ACCOUNT = `SELECT ${columnsOf(ACCOUNTS)} FROM accounts WHERE id = ?`;

const FIND_KEY_HOLDER =
  `SELECT ${columnsOf(API_KEYS, "k")}, a.name AS account_name, a.tier, a.email_verified, a.terms_accepted_at, ` +
  "a.created_at AS account_created_at FROM api_keys k JOIN accounts a ON a.id = k.account_id WHERE k.token_hash = ?";

const LIST_KEYS = `SELECT ${columnsOf(API_KEYS)} FROM api_keys WHERE account_id = ? ORDER BY created_at DESC, id DESC`;

interface KeyHolderRow extends ApiKeyRow, Pick<AccountRow, "tier" | "email_verified" | "terms_accepted_at"> {
  account_name: string;
  account_created_at: number;
}

export class KnexAccountStore implements AccountStore {
  constructor(private readonly database: KnexDatabase) {}

  async insertAccounts(tx: Transaction, accounts: readonly Account[]): Promise<void> {
    const session = sessionOf(tx);
    await session.insert(ACCOUNTS, accounts.map(toAccountRow));
    await session.insert(
      BALANCES,
      accounts.map((account) => toBalanceRow(emptyBalance(account.id))),
    );
  }

  async findAccounts(ids: readonly AccountId[]): Promise<Map<AccountId, Account>> {
    const lists = ids.map((id) => [id]);
    const rows = await this.database.reading((session) => session.allEach<AccountRow>(FIND_ACCOUNT, lists));
    return new Map(rows.map((row) => [row.id, toAccount(row)]));
  }

  async updateAccount(tx: Transaction, id: AccountId, changes: AccountChanges): Promise<boolean> {
    const columns: [string, SqlValue | undefined][] = [
      ["tier", changes.tier],
      ["email_verified", changes.emailVerified === undefined ? undefined : Number(changes.emailVerified)],
      ["terms_accepted_at", changes.termsAcceptedAt],
    ];
    const named = columns.filter((column): column is [string, SqlValue] => column[1] !== undefined);
    // Without changes it still answers whether there is such an account.
    const assignments = named.length === 0 ? "tier = tier" : named.map(([name]) => `${name} = ?`).join(", ");
    const values = [...named.map(([, value]) => value), id];
    return (await sessionOf(tx).run(`UPDATE accounts SET ${assignments} WHERE id = ?`, values)) > 0;
  }

  async isEmpty(): Promise<boolean> {
    const rows = await this.database.reading((session) => session.all("SELECT 1 FROM accounts LIMIT 1"));
    return rows.length === 0;
  }

  async insertKeys(tx: Transaction, keys: readonly ApiKey[]): Promise<void> {
    await sessionOf(tx).insert(API_KEYS, keys.map(toApiKeyRow));
  }

  async findKeyHolders(tokenHashes: readonly string[]): Promise<Map<string, KeyHolder>> {
    const lists = tokenHashes.map((hash) => [hash]);
    const rows = await this.database.reading((session) => session.allEach<KeyHolderRow>(FIND_KEY_HOLDER, lists));
    return new Map(rows.map((row) => [row.token_hash, toKeyHolder(row)]));
  }

  async listKeys(accountId: AccountId): Promise<ApiKey[]> {
    const rows = await this.database.reading((session) => session.all<ApiKeyRow>(LIST_KEYS, [accountId]));
    return rows.map(toApiKey);
  }

  async revokeKey(tx: Transaction, id: ApiKeyId, at: number): Promise<boolean> {
    const found = await sessionOf(tx).run("UPDATE api_keys SET revoked_at = COALESCE(revoked_at, ?) WHERE id = ?", [at, id]);
    return found > 0;
  }
}

function toKeyHolder(row: KeyHolderRow): KeyHolder {
  const account = toAccount({ ...row, id: row.account_id, name: row.account_name, created_at: row.account_created_at });
  return { key: toApiKey(row), account };
}
