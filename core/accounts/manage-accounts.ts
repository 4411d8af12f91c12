import type { AuditAction, AuditEntry, AuditFields } from "../ports/audit-record.js";
import type { RecordsActions } from "../audit/audit-trail.js";
import { grant } from "../credits/grant.js";
import { OperationRefusedError } from "../errors.js";
import { type AccountId, isId } from "../ids.js";
import type { AccountChanges, AccountFilter, AccountStore } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { Digest } from "../ports/digest.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { LedgerStore } from "../ports/ledger-store.js";
import type { Random } from "../ports/random.js";
import type { TransactionWork } from "../ports/unit-of-work.js";
import type { Account, ApiKey } from "../ports/account.js";
import { makeToken, shownPrefixOf } from "./api-key.js";
import { isScope, type Scope, SCOPES } from "../ports/scopes.js";
import type { Tiers } from "./tiers.js";
import { withoutControls } from "../printable.js";

export interface NewAccount {
  readonly name: string;
  readonly tier: string;
  readonly acceptTerms?: boolean;
  readonly emailVerified?: boolean;
  /** Granted to the monthly bucket. */
  readonly credits?: number;
}

export interface NewKey {
  /** All by default. */
  readonly scopes?: readonly string[];
  /** A label for lists, 1 to 100 characters. */
  readonly name?: string;
  /** In milliseconds since 1970, later than now; without it the key works until it is revoked. */
  readonly expiresAt?: number;
}

/** A key at its creation: the only moment its token is known. */
export interface IssuedKey {
  readonly key: ApiKey;
  readonly token: string;
}

export interface ManageAccountsDeps {
  readonly audit: RecordsActions;
  readonly accounts: AccountStore;
  readonly ledger: LedgerStore;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly random: Random;
  readonly digest: Digest;
  readonly tiers: Tiers;
}

const NAME_MAX_LENGTH = 100;
const REASON_MAX_LENGTH = 200;
/** The last moment that a Date can be. */
const MOMENT_MAX = 8.64e15;

/** Accounts and keys, for operators and embedding apps. Changes hold within 1 s in every process. */
export class ManageAccounts {
  constructor(private readonly deps: ManageAccountsDeps) {}

  /** @throws {OperationRefusedError} an unknown tier, a name or number of credits that cannot be */
  async create(wanted: NewAccount): Promise<Account> {
    const { deps } = this;
    const name = checkedName("An account's name", wanted.name);
    this.checkTier(wanted.tier);
    const now = deps.clock.now();
    const account: Account = {
      id: deps.ids.next("acct"),
      name,
      tier: wanted.tier,
      emailVerified: wanted.emailVerified ?? false,
      termsAcceptedAt: wanted.acceptTerms === true ? now : null,
      suspendedAt: null,
      suspendedReason: null,
      createdAt: now,
    };
    const fields = {
      name,
      tier: account.tier,
      terms_accepted: wanted.acceptTerms === true,
      credits: wanted.credits ?? 0,
    };
    const create: TransactionWork<void> = async (tx, { isRetry }) => {
      if (isRetry && (await deps.accounts.findAccounts([account.id])).has(account.id)) return;
      await deps.accounts.insertAccounts(tx, [account]);
      if (wanted.credits === undefined || wanted.credits === 0) return;
      const balance = (await deps.ledger.lockBalances(tx, [account.id])).get(account.id);
      if (balance === undefined) throw new OperationRefusedError(`The account ${account.id} has no balance.`);
      await deps.ledger.apply(tx, [grant(balance, wanted.credits, "monthly", null, now)]);
    };
    await deps.audit.inTransaction(create, () => entryOf("accounts.create", account.id, fields));
    return account;
  }

  /** @throws {OperationRefusedError} no such account */
  async get(id: string): Promise<Account> {
    const account = isId("acct", id) ? (await this.deps.accounts.findAccounts([id])).get(id) : undefined;
    if (account === undefined) throw new OperationRefusedError(`There is no account ${id}.`);
    return account;
  }

  /** Accepting twice keeps the first moment. @throws {OperationRefusedError} no such account */
  async acceptTerms(id: string): Promise<Account> {
    const account = await this.get(id);
    if (account.termsAcceptedAt !== null) return account;
    return this.update(account.id, { termsAcceptedAt: this.deps.clock.now() }, "accounts.accept_terms");
  }

  /** @throws {OperationRefusedError} no such account or tier */
  async changeTier(id: string, tier: string): Promise<Account> {
    this.checkTier(tier);
    const account = await this.get(id);
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
    const account = await this.get(id);
    const suspendedAt = account.suspendedAt ?? this.deps.clock.now();
    const suspendedReason = reason ?? account.suspendedReason;
    const changes = { suspendedAt, suspendedReason };
    return this.update(account.id, changes, "accounts.suspend", { reason: suspendedReason });
  }

  /** Ends a suspension; that of an account that is not suspended changes nothing. @throws as {@link get} */
  async resume(id: string): Promise<Account> {
    const account = await this.get(id);
    if (account.suspendedAt === null) return account;
    return this.update(account.id, { suspendedAt: null, suspendedReason: null }, "accounts.resume");
  }

  /** @throws {OperationRefusedError} no such account or scope, or an expiry that is not in the future */
  async issueKey(accountId: string, options: NewKey = {}): Promise<IssuedKey> {
    const { deps } = this;
    const account = await this.get(accountId);
    const expiresAt = checkExpiry(options.expiresAt ?? null, deps.clock.now());
    const scopes = checkScopes(options.scopes ?? SCOPES);
    const name = options.name === undefined ? null : checkedName("A key's name", options.name);
    const token = makeToken((count) => deps.random.bytes(count));
    const key: ApiKey = {
      id: deps.ids.next("key"),
      accountId: account.id,
      name,
      tokenHash: deps.digest.sha256(token),
      shownPrefix: shownPrefixOf(token),
      scopes,
      createdAt: deps.clock.now(),
      revokedAt: null,
      expiresAt,
    };
    const insert: TransactionWork<void> = async (tx, { isRetry }) => {
      if (isRetry && (await deps.accounts.findKeyHolders([key.tokenHash])).has(key.tokenHash)) return;
      await deps.accounts.insertKeys(tx, [key]);
    };
    const fields = { name: key.name, scopes: scopes.join(","), expires_at: expiresAt };
    await deps.audit.inTransaction(insert, () => entryOf("keys.issue", account.id, fields, [key.id]));
    return { key, token };
  }

  /** Newest first, revoked ones included. @throws {OperationRefusedError} no such account */
  async listKeys(accountId: string): Promise<ApiKey[]> {
    return this.deps.accounts.listKeys((await this.get(accountId)).id);
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
    if (!revoked) throw new OperationRefusedError(`There is no key ${keyId}.`);
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

/** @param targets the account by default */
function entryOf(
  action: AuditAction,
  accountId: AccountId | null,
  fields: AuditFields = {},
  targets: readonly string[] = accountId === null ? [] : [accountId],
): AuditEntry {
  return { action, accountId, targets, fields };
}

/** @returns the name as it is stored, in one line and without control characters */
function checkedName(what: string, given: string): string {
  const name = withoutControls(given);
  checkLength(what, name, NAME_MAX_LENGTH);
  return name;
}

function checkLength(what: string, text: string, maximum: number): void {
  const length = [...text].length;
  if (length < 1 || length > maximum || !text.isWellFormed()) {
    throw new OperationRefusedError(`${what} has 1 to ${maximum} characters; got ${length}.`);
  }
}

function checkExpiry(expiresAt: number | null, now: number): number | null {
  if (expiresAt === null) return null;
  if (Number.isSafeInteger(expiresAt) && expiresAt > now && expiresAt <= MOMENT_MAX) return expiresAt;
  throw new OperationRefusedError("A key expires at a moment in the future, given in whole milliseconds since 1970.");
}

function checkScopes(scopes: readonly string[]): Scope[] {
  const unknown = scopes.filter((scope) => !isScope(scope));
  if (unknown.length > 0 || scopes.length === 0) {
    const given = unknown.length > 0 ? unknown.join(", ") : "none";
    throw new OperationRefusedError(`Scopes are ${SCOPES.join(", ")}; got ${given}.`);
  }
  return [...new Set(scopes.filter(isScope))];
}
