import type { Account, ApiKey } from "../../../../core/ports/account.js";
import type { AccountId, ApiKeyId } from "../../../../core/ids.js";
import type {
  AccountChanges,
  AccountFilter,
  AccountStore,
  KeyHolder,
  KeyUse,
} from "../../../../core/ports/account-store.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import type { KnexDatabase } from "../database.js";
import { ACCOUNTS, type AccountRow, API_KEYS, type ApiKeyRow } from "./account-tables.js";
import { emptyBalance } from "../../../../core/credits/balance.js";
import { BALANCES } from "../ledger/ledger-tables.js";
import { mapIn } from "../lists.js";
import { mapOf } from "../rows.js";
import { columnsOf, sessionOf } from "../session.js";

const FIND_ACCOUNTS = (marks: string): string => `SELECT ${columnsOf(ACCOUNTS)} FROM {accounts} WHERE id IN (${marks})`;
const FIND_BY_EXTERNAL_ID = `SELECT ${columnsOf(ACCOUNTS)} FROM {accounts} WHERE external_id = ?`;

const FIND_KEY_HOLDERS = (marks: string): string =>
  `SELECT ${columnsOf(API_KEYS, "k")}, a.external_id, a.name AS account_name, a.tier, a.email_verified, ` +
  "a.terms_accepted_at, a.suspended_at, a.suspended_reason, a.deleted_at, a.created_at AS account_created_at " +
  `FROM {api_keys} k JOIN {accounts} a ON a.id = k.account_id WHERE k.token_hash IN (${marks})`;

const LIST_KEYS = `SELECT ${columnsOf(API_KEYS)} FROM {api_keys} WHERE account_id = ?
  ORDER BY created_at DESC, id DESC`;

const NOTE_USE = "UPDATE {api_keys} SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at <= ?)";

const ALL_ACCOUNTS = `SELECT ${columnsOf(ACCOUNTS)} FROM {accounts}`;
const LIST_SUSPENDED = "SELECT id FROM {accounts} WHERE suspended_at IS NOT NULL";
const LIVE_KEYS = "SELECT id FROM {api_keys} WHERE revoked_at IS NULL ORDER BY id";
const LIVE_KEYS_OF_ACCOUNT = "SELECT id FROM {api_keys} WHERE account_id = ? AND revoked_at IS NULL ORDER BY id";

type HolderColumns =
  | "external_id"
  | "tier"
  | "email_verified"
  | "terms_accepted_at"
  | "suspended_at"
  | "suspended_reason"
  | "deleted_at";

interface KeyHolderRow extends ApiKeyRow, Pick<AccountRow, HolderColumns> {
  account_name: string;
  account_created_at: number;
}

export class KnexAccountStore implements AccountStore {
  constructor(private readonly database: KnexDatabase) {}

  async insertAccounts(tx: Transaction, accounts: readonly Account[]): Promise<void> {
    const session = sessionOf(tx);
    await session.insert(ACCOUNTS, accounts.map(ACCOUNTS.toRow));
    await session.insert(
      BALANCES,
      accounts.map((account) => BALANCES.toRow(emptyBalance(account.id))),
    );
  }

  findAccounts(ids: readonly AccountId[]): Promise<Map<AccountId, Account>> {
    const entryOf = (row: AccountRow): [AccountId, Account] => [row.id, ACCOUNTS.fromRow(row)];
    return this.database.reading((session) => mapIn(session, FIND_ACCOUNTS, ids, entryOf));
  }

  findByExternalIds(externalIds: readonly string[]): Promise<Map<string, Account>> {
    const entryOf = (row: AccountRow): [string, Account] => [row.external_id as string, ACCOUNTS.fromRow(row)];
    return this.database.reading((session) => mapOf(session, FIND_BY_EXTERNAL_ID, externalIds, entryOf));
  }

  async listAccounts({ isSuspended = false, isDeleted = false, limit, ...filter }: AccountFilter): Promise<Account[]> {
    const { conditions, values } = conditionsOf(filter);
    const deleted = `deleted_at IS ${isDeleted ? "NOT NULL" : "NULL"}`;
    const where = [deleted, ...(isSuspended ? ["suspended_at IS NOT NULL"] : []), ...conditions].join(" AND ");
    const order = isSuspended ? "suspended_at DESC, id DESC" : "id DESC";
    const query = `${ALL_ACCOUNTS} WHERE ${where} ORDER BY ${order} LIMIT ?`;
    const rows = await this.database.reading((session) => session.all<AccountRow>(query, [...values, limit]));
    return rows.map(ACCOUNTS.fromRow);
  }

  async listSuspended(): Promise<AccountId[]> {
    const rows = await this.database.reading((session) => session.all<Pick<AccountRow, "id">>(LIST_SUSPENDED));
    return rows.map(({ id }) => id);
  }

  async updateAccount(tx: Transaction, id: AccountId, changes: AccountChanges): Promise<boolean> {
    const { columns, values } = ACCOUNTS.changed(changes);
    // Without changes it still says whether there is such an account.
    const assignments = columns.length === 0 ? "tier = tier" : columns.map((name) => `${name} = ?`).join(", ");
    return (await sessionOf(tx).run(`UPDATE {accounts} SET ${assignments} WHERE id = ?`, [...values, id])) > 0;
  }

  async isEmpty(): Promise<boolean> {
    const rows = await this.database.reading((session) => session.all("SELECT 1 FROM {accounts} LIMIT 1"));
    return rows.length === 0;
  }

  async insertKeys(tx: Transaction, keys: readonly ApiKey[]): Promise<void> {
    await sessionOf(tx).insert(API_KEYS, keys.map(API_KEYS.toRow));
  }

  findKeyHolders(tokenHashes: readonly string[]): Promise<Map<string, KeyHolder>> {
    const entryOf = (row: KeyHolderRow): [string, KeyHolder] => [row.token_hash, toKeyHolder(row)];
    return this.database.reading((session) => mapIn(session, FIND_KEY_HOLDERS, tokenHashes, entryOf));
  }

  async listKeys(accountId: AccountId): Promise<ApiKey[]> {
    const rows = await this.database.reading((session) => session.all<ApiKeyRow>(LIST_KEYS, [accountId]));
    return rows.map(API_KEYS.fromRow);
  }

  async noteKeyUses(tx: Transaction, uses: readonly KeyUse[]): Promise<void> {
    const sorted = [...uses].sort((a, b) => (a.id < b.id ? -1 : 1));
    await sessionOf(tx).runEach(
      NOTE_USE,
      sorted.map(({ id, usedAt, unlessAfter }) => [usedAt, id, unlessAfter]),
    );
  }

  async revokeKey(tx: Transaction, id: ApiKeyId, at: number): Promise<boolean> {
    const found = await sessionOf(tx).run("UPDATE {api_keys} SET revoked_at = COALESCE(revoked_at, ?) WHERE id = ?", [
      at,
      id,
    ]);
    return found > 0;
  }

  async revokeKeys(tx: Transaction, accountId: AccountId | null, at: number): Promise<number> {
    const session = sessionOf(tx);
    const keys = await (accountId === null
      ? session.all<Pick<ApiKeyRow, "id">>(LIVE_KEYS)
      : session.all<Pick<ApiKeyRow, "id">>(LIVE_KEYS_OF_ACCOUNT, [accountId]));
    // By primary key, in its order: so do all that lock rows, and none waits for another in a circle.
    const lists = keys.map(({ id }) => [at, id]);
    const found = await session.runEach(
      "UPDATE {api_keys} SET revoked_at = COALESCE(revoked_at, ?) WHERE id = ?",
      lists,
    );
    return found.filter((rows) => rows > 0).length;
  }
}

function toKeyHolder(row: KeyHolderRow): KeyHolder {
  const account = ACCOUNTS.fromRow({
    ...row,
    id: row.account_id,
    name: row.account_name,
    created_at: row.account_created_at,
  });
  return { key: API_KEYS.fromRow(row), account };
}

/** Names have no index: only operators ask for them, and may read all accounts. */
function conditionsOf({ tier, name, search, after }: Pick<AccountFilter, "tier" | "name" | "search" | "after">): {
  readonly conditions: readonly string[];
  readonly values: readonly string[];
} {
  const given: readonly (readonly [string, readonly string[] | undefined])[] = [
    ["tier = ?", tier === undefined ? undefined : [tier]],
    ["name = ?", name === undefined ? undefined : [name]],
    [
      "(LOWER(name) LIKE ? ESCAPE '!' OR id = ? OR external_id = ?)",
      search === undefined ? undefined : [`%${search.toLowerCase().replace(/[!%_]/g, "!$&")}%`, search, search],
    ],
    ["id < ?", after === undefined ? undefined : [after]],
  ];
  const set = given.flatMap(([condition, values]) => (values === undefined ? [] : [{ condition, values }]));
  return { conditions: set.map(({ condition }) => condition), values: set.flatMap(({ values }) => values) };
}
