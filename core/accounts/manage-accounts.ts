import type { AuditAction, AuditFields } from "../ports/audit-record.js";
import type { RecordsActions } from "../audit/audit-trail.js";
import { OperationRefusedError, UnknownObjectError } from "../errors.js";
import { GroupedReads } from "../grouped-reads.js";
import { type AccountId, isId } from "../ids.js";
import type { AccountChanges, AccountFilter, AccountStore } from "../ports/account-store.js";
import type { AccountDeletion, ErasureStore } from "../ports/erasure-store.js";
import type { LedgerStore } from "../ports/ledger-store.js";
import type { TransactionWork } from "../ports/unit-of-work.js";
import type { Account } from "../ports/account.js";
import { entryOf } from "./account-entry.js";
import { checkedName, checkLength, NAME_MAX_LENGTH } from "./checked-text.js";
import { deleteAccount } from "./delete-account.js";
import { checkedExternalId, isExternalId } from "./external-id.js";
import { findAccount } from "./find-account.js";
import { insertAccount } from "./insert-account.js";
import { newKey, type NewKey, type NewKeyDeps } from "./new-key.js";
import { type ShownKey, shownKey } from "./shown-key.js";
import type { Tiers } from "./tiers.js";

export interface NewAccount {
  readonly name: string;
  readonly tier: string;
  readonly acceptTerms?: boolean;
  readonly emailVerified?: boolean;
  /** Granted to the monthly bucket. */
  readonly credits?: number;
  /** Whose it is in the app around Fermata, as {@link Account.externalId}; none by default. */
  readonly externalId?: string;
}

/** An account of a user of the app around Fermata. */
export interface EnsuredAccount extends Partial<NewAccount> {
  /** The user, as that app calls them: 1 to 255 printable characters, no space at either end. Case counts. */
  readonly externalId: string;
  /** The first 100 characters of the external id by default. */
  readonly name?: string;
  /** The first tier by default: `free`, as settings have them. */
  readonly tier?: string;
}

/** A key at its creation: the only moment its token is known. */
export interface IssuedKey {
  readonly key: ShownKey;
  readonly token: string;
}

export interface ManageAccountsDeps extends NewKeyDeps {
  readonly audit: RecordsActions;
  readonly accounts: AccountStore;
  readonly ledger: LedgerStore;
  readonly erasures: Pick<ErasureStore, "insertDeletion" | "isDeleted" | "findDeletion">;
  readonly tiers: Tiers;
}

const REASON_MAX_LENGTH = 200;

/** Accounts and keys, for operators and embedding apps. Changes hold within 1 s in every process. */
export class ManageAccounts {
  /** An app that creates many generations at the same time asks for their accounts one by one. */
  private readonly byId: GroupedReads<AccountId, Account>;

  constructor(private readonly deps: ManageAccountsDeps) {
    this.byId = new GroupedReads(deps.clock, (ids) => deps.accounts.findAccounts(ids));
  }

  /**
   * @throws {OperationRefusedError} an unknown tier, a name, external id or number of credits that cannot be, or the
   *   external id of another account
   */
  async create(wanted: NewAccount): Promise<Account> {
    const account = this.newAccount(wanted);
    const stored = await insertAccount(this.deps, account, wanted.credits ?? 0);
    if (stored.id === account.id) return account;
    throw new OperationRefusedError(`The account ${stored.id} has the external id ${stored.externalId}.`);
  }

  /**
   * The account with this external id. The first call creates it; any later one, in whichever process, and any at the
   * same time, returns that account as it is: other values, such as another tier, change nothing, and it may be
   * suspended.
   *
   * @throws {OperationRefusedError} as {@link create}, where there is no such account
   */
  async ensure(wanted: EnsuredAccount): Promise<Account> {
    const externalId = checkedExternalId(wanted.externalId);
    const existing = await this.findByExternalId(externalId);
    if (existing !== null) return existing;
    const name = wanted.name ?? [...externalId].slice(0, NAME_MAX_LENGTH).join("");
    const account = this.newAccount({ ...wanted, name, tier: wanted.tier ?? this.deps.tiers.names[0] ?? "" });
    return insertAccount(this.deps, account, wanted.credits ?? 0);
  }

  /** The account with this external id; null where there is none. */
  async findByExternalId(externalId: string): Promise<Account | null> {
    if (!isExternalId(externalId)) return null;
    return (await this.deps.accounts.findByExternalIds([externalId])).get(externalId) ?? null;
  }

  /** @throws {OperationRefusedError} no such account */
  async get(id: string): Promise<Account> {
    const account = isId("acct", id) ? await this.byId.get(id) : undefined;
    if (account === undefined) throw new UnknownObjectError(`There is no account ${id}.`);
    return account;
  }

  /**
   * The account of this id, or the only one of this name: for operators. An app knows its accounts by id, or by
   * external id.
   *
   * @throws {OperationRefusedError} no such account, or several of this name
   */
  find(idOrName: string): Promise<Account> {
    return findAccount(this.deps.accounts, idOrName);
  }

  /** Accepting twice keeps the first moment. @throws {OperationRefusedError} no such account */
  async acceptTerms(id: string): Promise<Account> {
    const account = await this.findOpen(id);
    if (account.termsAcceptedAt !== null) return account;
    return this.update(account.id, { termsAcceptedAt: this.deps.clock.now() }, "accounts.accept_terms");
  }

  /** @throws {OperationRefusedError} no such account or tier */
  async changeTier(id: string, tier: string): Promise<Account> {
    this.checkTier(tier);
    const account = await this.findOpen(id);
    return this.update(account.id, { tier }, "accounts.change_tier", { from: account.tier, to: tier });
  }

  /** Newest first. */
  list(filter: AccountFilter): Promise<Account[]> {
    return this.deps.accounts.listAccounts(filter);
  }

  /**
   * Suspends an account: requests with its keys get 403, its share pages and audio links 404. Jobs that were accepted
   * go on to their end, and their webhooks are sent. Suspending twice keeps the first moment, and takes a new reason.
   *
   * @throws {OperationRefusedError} no such account, or a reason that cannot be
   */
  async suspend(id: string, { reason }: { readonly reason?: string } = {}): Promise<Account> {
    if (reason !== undefined) checkLength("A reason", reason, REASON_MAX_LENGTH);
    const account = await this.findOpen(id);
    const suspendedAt = account.suspendedAt ?? this.deps.clock.now();
    const suspendedReason = reason ?? account.suspendedReason;
    const changes = { suspendedAt, suspendedReason };
    return this.update(account.id, changes, "accounts.suspend", { reason: suspendedReason });
  }

  /** Ends a suspension; that of an account that is not suspended changes nothing. @throws as {@link get} */
  async resume(id: string): Promise<Account> {
    const account = await this.findOpen(id);
    if (account.suspendedAt === null) return account;
    return this.update(account.id, { suspendedAt: null, suspendedReason: null }, "accounts.resume");
  }

  /**
   * Deletes an account: within a second its keys, links and share pages are refused everywhere, and its name and
   * external id are gone at once. Its jobs are cancelled as by an operator. What is stored of it is erased within
   * minutes by the processes that work on jobs; the ledger stays, under an id that says nothing of the person.
   * Deleting twice changes nothing more.
   *
   * @throws {OperationRefusedError} no such account
   */
  async delete(id: string): Promise<AccountDeletion> {
    const { id: accountId } = await this.get(id);
    await deleteAccount(this.deps, accountId);
    const deletion = await this.deps.erasures.findDeletion(accountId);
    if (deletion === null) throw new UnknownObjectError(`There is no deletion of the account ${accountId}.`);
    return deletion;
  }

  /** How far the deletion of an account is; null while it is not deleted. @throws as {@link get} */
  async deletion(id: string): Promise<AccountDeletion | null> {
    return this.deps.erasures.findDeletion((await this.get(id)).id);
  }

  /** @throws {OperationRefusedError} no such account or scope, or an expiry that is not in the future */
  async issueKey(accountId: string, options: NewKey = {}): Promise<IssuedKey> {
    const { deps } = this;
    const account = await this.findOpen(accountId);
    const { key, token } = newKey(account.id, options, deps);
    const insert: TransactionWork<void> = async (tx, { isRetry }) => {
      if (isRetry && (await deps.accounts.findKeyHolders([key.tokenHash])).has(key.tokenHash)) return;
      await deps.accounts.insertKeys(tx, [key]);
    };
    const fields = { scopes: key.scopes.join(","), expires_at: key.expiresAt };
    await deps.audit.inTransaction(insert, () => entryOf("keys.issue", account.id, fields, [key.id]));
    return { key: shownKey(key), token };
  }

  /** Newest first, revoked ones included. @throws {OperationRefusedError} no such account */
  async listKeys(accountId: string): Promise<ShownKey[]> {
    return (await this.deps.accounts.listKeys((await this.get(accountId)).id)).map(shownKey);
  }

  /** Revoking twice is fine. @throws {OperationRefusedError} no such key */
  async revokeKey(keyId: string): Promise<void> {
    const { audit, accounts, clock } = this.deps;
    const id = isId("key", keyId) ? keyId : null;
    const revoked =
      id !== null &&
      (await audit.inTransaction(
        (tx) => accounts.revokeKey(tx, id, clock.now()),
        (isThere) => (isThere ? entryOf("keys.revoke", null, {}, [id]) : null),
      ));
    if (!revoked) throw new UnknownObjectError(`There is no key ${keyId}.`);
  }

  /**
   * Revokes all keys of an account, or of all accounts; they stop working everywhere within a second.
   *
   * @returns how many were not revoked before
   * @throws {OperationRefusedError} no such account
   */
  async revokeKeys(which: { readonly accountId: string } | "all"): Promise<number> {
    const { audit, accounts, clock } = this.deps;
    const accountId = which === "all" ? null : (await this.get(which.accountId)).id;
    let most = 0;
    return audit.inTransaction(
      async (tx) => {
        // A run before this one may have been committed although its reply was lost: then this one finds none left.
        most = Math.max(most, await accounts.revokeKeys(tx, accountId, clock.now()));
        return most;
      },
      (revoked) => entryOf("keys.revoke_all", accountId, { revoked }),
    );
  }

  /**
   * Records that a link opens the studio for an account without a key, until then.
   *
   * @param expiresAt milliseconds since 1970
   * @throws {OperationRefusedError} no such account
   */
  async recordStudioLink(id: string, expiresAt: number): Promise<void> {
    const account = await this.findOpen(id);
    await this.deps.audit.note(entryOf("studio.link", account.id, { expires_at: expiresAt }));
  }

  /** One that is not deleted. */
  private async findOpen(id: string): Promise<Account> {
    const account = await this.get(id);
    if (account.deletedAt === null) return account;
    throw new OperationRefusedError(`The account ${id} is deleted.`);
  }

  private newAccount(wanted: NewAccount): Account {
    const name = checkedName("An account's name", wanted.name);
    this.checkTier(wanted.tier);
    const now = this.deps.clock.now();
    return {
      id: this.deps.ids.next("acct"),
      externalId: wanted.externalId === undefined ? null : checkedExternalId(wanted.externalId),
      name,
      tier: wanted.tier,
      emailVerified: wanted.emailVerified ?? false,
      termsAcceptedAt: wanted.acceptTerms === true ? now : null,
      suspendedAt: null,
      suspendedReason: null,
      deletedAt: null,
      createdAt: now,
    };
  }

  private async update(
    id: AccountId,
    changes: AccountChanges,
    action: AuditAction,
    fields: AuditFields = {},
  ): Promise<Account> {
    const { audit, accounts } = this.deps;
    await audit.inTransaction(
      (tx) => accounts.updateAccount(tx, id, changes),
      () => entryOf(action, id, fields),
    );
    return this.get(id);
  }

  private checkTier(tier: string): void {
    const { tiers } = this.deps;
    if (!tiers.has(tier)) {
      throw new OperationRefusedError(`There is no tier ${tier}; the tiers are ${tiers.names.join(", ")}.`);
    }
  }
}
