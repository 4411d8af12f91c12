import { grant } from "../credits/grant.js";
import { OperationRefusedError } from "../errors.js";
import { type AccountId, isId } from "../ids.js";
import type { AccountStore } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { Digest } from "../ports/digest.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { LedgerStore } from "../ports/ledger-store.js";
import type { Random } from "../ports/random.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import type { Account, ApiKey } from "./account.js";
import { makeToken, shownPrefixOf } from "./api-key.js";
import { isScope, type Scope, SCOPES } from "./scopes.js";
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

/** A key right after it was made: the only moment its token is known. */
export interface IssuedKey {
  readonly key: ApiKey;
  readonly token: string;
}

export interface ManageAccountsPorts {
  readonly unitOfWork: UnitOfWork;
  readonly accounts: AccountStore;
  readonly ledger: LedgerStore;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly random: Random;
  readonly digest: Digest;
  readonly tiers: Tiers;
}

const NAME_MAX_LENGTH = 100;

/** Accounts and keys, for operators and embedding apps. Changes hold within 1 s in every process. */
export class ManageAccounts {
  constructor(private readonly ports: ManageAccountsPorts) {}

  /** @throws {OperationRefusedError} an unknown tier, a name or number of credits that cannot be */
  async create(wanted: NewAccount): Promise<Account> {
    const { ports } = this;
    const name = checkedName("An account's name", wanted.name);
    this.checkTier(wanted.tier);
    const now = ports.clock.now();
    const account: Account = {
      id: ports.ids.next("acct"),
      name,
      tier: wanted.tier,
      emailVerified: wanted.emailVerified ?? false,
      termsAcceptedAt: wanted.acceptTerms === true ? now : null,
      createdAt: now,
    };
    let runs = 0;
    await ports.unitOfWork.inTransaction(async (tx) => {
      runs += 1;
      // A run before this one may have been committed although its reply was lost.
      if (runs > 1 && (await ports.accounts.findAccounts([account.id])).has(account.id)) return;
      await ports.accounts.insertAccounts(tx, [account]);
      if (wanted.credits === undefined || wanted.credits === 0) return;
      const balance = (await ports.ledger.lockBalances(tx, [account.id])).get(account.id);
      if (balance === undefined) throw new OperationRefusedError(`The account ${account.id} has no balance.`);
      await ports.ledger.apply(tx, [grant(balance, wanted.credits, "monthly", null, now)]);
    });
    return account;
  }

  /** @throws {OperationRefusedError} no such account */
  async get(id: string): Promise<Account> {
    const account = isId("acct", id) ? (await this.ports.accounts.findAccounts([id])).get(id) : undefined;
    if (account === undefined) throw new OperationRefusedError(`There is no account ${id}.`);
    return account;
  }

  /** Accepting twice keeps the first moment. @throws {OperationRefusedError} no such account */
  async acceptTerms(id: string): Promise<Account> {
    const account = await this.get(id);
    if (account.termsAcceptedAt !== null) return account;
    return this.update(account.id, { termsAcceptedAt: this.ports.clock.now() });
  }

  /** @throws {OperationRefusedError} no such account or tier */
  async changeTier(id: string, tier: string): Promise<Account> {
    this.checkTier(tier);
    return this.update((await this.get(id)).id, { tier });
  }

  /** @param scopes all of them by default. @throws {OperationRefusedError} no such account or scope */
  async issueKey(
    accountId: string,
    options: { readonly scopes?: readonly string[]; readonly name?: string } = {},
  ): Promise<IssuedKey> {
    const { ports } = this;
    const account = await this.get(accountId);
    const scopes = checkScopes(options.scopes ?? SCOPES);
    const name = options.name === undefined ? null : checkedName("A key's name", options.name);
    const token = makeToken((count) => ports.random.bytes(count));
    const key: ApiKey = {
      id: ports.ids.next("key"),
      accountId: account.id,
      name,
      tokenHash: ports.digest.sha256(token),
      shownPrefix: shownPrefixOf(token),
      scopes,
      createdAt: ports.clock.now(),
      revokedAt: null,
    };
    let runs = 0;
    await ports.unitOfWork.inTransaction(async (tx) => {
      runs += 1;
      if (runs > 1 && (await ports.accounts.findKeyHolders([key.tokenHash])).has(key.tokenHash)) return;
      await ports.accounts.insertKeys(tx, [key]);
    });
    return { key, token };
  }

  /** Newest first, revoked ones included. @throws {OperationRefusedError} no such account */
  async listKeys(accountId: string): Promise<ApiKey[]> {
    return this.ports.accounts.listKeys((await this.get(accountId)).id);
  }

  /** Revoking twice is fine. @throws {OperationRefusedError} no such key */
  async revokeKey(keyId: string): Promise<void> {
    const { unitOfWork, accounts, clock } = this.ports;
    const revoked =
      isId("key", keyId) && (await unitOfWork.inTransaction((tx) => accounts.revokeKey(tx, keyId, clock.now())));
    if (!revoked) throw new OperationRefusedError(`There is no key ${keyId}.`);
  }

  private async update(id: AccountId, changes: Partial<Pick<Account, "tier" | "termsAcceptedAt">>): Promise<Account> {
    await this.ports.unitOfWork.inTransaction((tx) => this.ports.accounts.updateAccount(tx, id, changes));
    return this.get(id);
  }

  private checkTier(tier: string): void {
    const { tiers } = this.ports;
    if (!tiers.has(tier)) {
      throw new OperationRefusedError(`There is no tier ${tier}; the tiers are ${tiers.names.join(", ")}.`);
    }
  }
}

/** @returns the name as it is stored, in one line and without control characters */
function checkedName(what: string, given: string): string {
  const name = withoutControls(given);
  const length = [...name].length;
  if (length < 1 || length > NAME_MAX_LENGTH || !given.isWellFormed()) {
    throw new OperationRefusedError(`${what} has 1 to ${NAME_MAX_LENGTH} characters; got ${length}.`);
  }
  return name;
}

function checkScopes(scopes: readonly string[]): Scope[] {
  const unknown = scopes.filter((scope) => !isScope(scope));
  if (unknown.length > 0 || scopes.length === 0) {
    const given = unknown.length > 0 ? unknown.join(", ") : "none";
    throw new OperationRefusedError(`Scopes are ${SCOPES.join(", ")}; got ${given}.`);
  }
  return [...new Set(scopes.filter(isScope))];
}
