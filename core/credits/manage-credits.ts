import { assert } from "../assert.js";
import type { AuditEntry } from "../ports/audit-record.js";
import { OperationRefusedError, UnknownObjectError } from "../errors.js";
import { GroupedReads } from "../grouped-reads.js";
import { type AccountId, isId } from "../ids.js";
import type { Account } from "../ports/account.js";
import type { AccountStore } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { InstallationStore } from "../ports/installation-store.js";
import type { LedgerStore } from "../ports/ledger-store.js";
import type { RecordsActions } from "../audit/audit-trail.js";
import type { HostTransaction, Transaction } from "../ports/unit-of-work.js";
import type { Balance, LedgerEntry } from "./balance.js";
import { type Bucket, grant } from "./grant.js";
import { renew } from "./renew.js";
import { type LedgerCheck, type LedgerVerification, VerifyLedger, type VerifyOptions } from "./verify-ledger.js";
import { checkPeriod, isKeptForRenewals, periodOf, renewalReference } from "./renewal-period.js";

export interface GrantOptions {
  /** `monthly` by default. */
  readonly bucket?: Bucket;
  /**
   * What it is for (`order 17`), 1 to 200 characters, unique among all grants: a repeated grant then changes nothing.
   * A new one does not begin with `renew:`.
   */
  readonly reference?: string;
  /** An open transaction of the embedding app, with which the credits are there or not. @see UnitOfWork.join */
  readonly transaction?: HostTransaction;
}

export interface RenewOptions {
  /** The month that begins, written `2026-11`; by default the current one, in UTC. */
  readonly period?: string;
}

/** The balance after a renewal. */
export interface Renewal extends Balance {
  readonly period: string;
  /** The period was renewed before; nothing was changed now. */
  readonly isRepeated: boolean;
}

/** What renewals need to know of the tiers. */
interface MonthlyAllowances {
  of(tier: string): { readonly monthlyCredits: number };
}

export interface ManageCreditsDeps {
  readonly audit: RecordsActions;
  readonly accounts: AccountStore;
  readonly ledger: LedgerStore;
  readonly installation: Pick<InstallationStore, "find" | "keep">;
  readonly clock: Clock;
  readonly tiers: MonthlyAllowances;
}

const REFERENCE_MAX_LENGTH = 200;

/** Credits, for callers, operators and embedding apps. */
export class ManageCredits {
  private readonly balances: GroupedReads<AccountId, Balance>;
  private readonly verifyLedger: VerifyLedger;

  constructor(private readonly deps: ManageCreditsDeps) {
    this.balances = new GroupedReads(deps.clock, (ids) => deps.ledger.findBalances(ids));
    this.verifyLedger = new VerifyLedger(deps);
  }

  /** @throws {OperationRefusedError} no such account */
  async balance(accountId: string): Promise<Balance> {
    const id = this.checkId(accountId);
    const balance = await this.balances.get(id);
    if (balance === undefined) throw unknownAccount(accountId);
    return balance;
  }

  /**
   * Movements of an account's credits, newest first.
   *
   * @param before only those with a lower number
   * @throws {UnknownObjectError} no such account
   */
  async entries(accountId: string, limit: number, before?: number): Promise<LedgerEntry[]> {
    const { accountId: id } = await this.balance(accountId);
    return this.deps.ledger.listEntries(id, limit, before);
  }

  /**
   * Adds credits. With a reference that was used before for the same account, bucket and amount it changes nothing.
   *
   * @returns the balance afterwards
   * @throws {OperationRefusedError} no such account, an amount that cannot be, a reference used for something else,
   *   or a transaction that cannot be joined
   * @throws {TransactionLostError} the transaction has to be rolled back
   */
  async grant(accountId: string, amount: number, options: GrantOptions = {}): Promise<Balance> {
    const bucket = options.bucket ?? "monthly";
    const reference = options.reference ?? null;
    if (reference !== null && (reference.length < 1 || reference.length > REFERENCE_MAX_LENGTH)) {
      throw new OperationRefusedError(`A reference has 1 to ${REFERENCE_MAX_LENGTH} characters.`);
    }
    const { ledger, audit, clock, accounts } = this.deps;
    const id = this.checkId(accountId);
    const account = (await accounts.findAccounts([id])).get(id);
    if (account !== undefined) checkIsNotDeleted(account);
    let tried: LedgerEntry | null = null;
    const add = async (tx: Transaction): Promise<Balance> => {
      const balance = (await ledger.lockBalances(tx, [id])).get(id);
      if (balance === undefined) throw unknownAccount(accountId);
      const earlier = reference === null ? null : await ledger.findByReference(tx, reference);
      if (earlier !== null) {
        if (earlier.kind === "grant" && earlier.accountId === id && earlier[bucket] === amount) return balance;
        throw new OperationRefusedError(`The reference ${reference} was used for another grant.`);
      }
      if (reference !== null && isKeptForRenewals(reference)) {
        throw new OperationRefusedError(`The reference ${reference} begins like those of renewals. Choose another.`);
      }
      // Without a reference, the entry of an earlier run shows that it was committed before its reply was
      // lost.
      if (tried !== null && (await this.isWritten(tried, balance))) return balance;
      const movement = grant(balance, amount, bucket, reference, clock.now());
      tried = movement.entries[0] ?? null;
      await ledger.apply(tx, [movement]);
      return movement.after;
    };
    const fields = { amount, bucket, reference };
    // A repeated grant changes nothing, so that no audit entry is written.
    const describe = (): AuditEntry | null =>
      tried === null ? null : { action: "credits.grant", accountId: id, targets: [id], fields };
    return audit.inTransaction(add, describe, options.transaction);
  }

  /**
   * Starts a new month: what is left of the monthly credits expires, the tier's allowance is added. Each period of an
   * account is renewed once; a repeated call changes nothing.
   *
   * @returns the balance afterwards
   * @throws {OperationRefusedError} no such account, or a period that is no month
   */
  async renew(accountId: string, options: RenewOptions = {}): Promise<Renewal> {
    const { ledger, audit, accounts, clock, tiers } = this.deps;
    const period = checkPeriod(options.period ?? periodOf(clock.now()));
    const id = this.checkId(accountId);
    const account = (await accounts.findAccounts([id])).get(id);
    if (account === undefined) throw unknownAccount(accountId);
    checkIsNotDeleted(account);
    const reference = renewalReference(id, period);
    let tried: LedgerEntry | null = null;
    const start = async (tx: Transaction): Promise<Renewal> => {
      const balance = (await ledger.lockBalances(tx, [id])).get(id);
      assert(balance !== undefined, "an account is created together with its balance");
      const earlier = await ledger.findByReference(tx, reference);
      if (earlier !== null) {
        const isRenewal = earlier.kind === "renew";
        if (!isRenewal) throw new OperationRefusedError(`The reference ${reference} was used for a grant.`);
        // An earlier run may have been committed before its reply was lost.
        const isRepeated = tried === null || !isSameEntry(tried, earlier);
        return { ...balance, period, isRepeated };
      }
      const movement = renew(balance, tiers.of(account.tier).monthlyCredits, reference, clock.now());
      tried = movement.entries.at(-1) ?? null;
      await ledger.apply(tx, [movement]);
      return { ...movement.after, period, isRepeated: false };
    };
    return audit.inTransaction(start, ({ isRepeated, monthly }) =>
      isRepeated ? null : { action: "credits.renew", accountId: id, targets: [id], fields: { period, monthly } },
    );
  }

  /**
   * Checks the ledger: all that is new since an earlier check found nothing wrong, and that together with what that one
   * saw it makes up the balances. The first check is a full one, as is the one after something was found.
   */
  verify(options: VerifyOptions = {}): Promise<LedgerVerification> {
    return this.verifyLedger.verify(options);
  }

  /**
   * Checks every invariant of the ledger, a few rows at a time: however large it is, it holds nothing up.
   *
   * @param signal ends the check early
   */
  verifyInSteps(signal: AbortSignal): Promise<LedgerCheck> {
    return this.verifyLedger.inSteps(signal);
  }

  private async isWritten(entry: LedgerEntry, { ledgerSeq }: Balance): Promise<boolean> {
    if (ledgerSeq < entry.seq) return false;
    const entries = await this.deps.ledger.listEntries(entry.accountId, ledgerSeq - entry.seq + 1);
    const found = entries.find(({ seq }) => seq === entry.seq);
    return found !== undefined && isSameEntry(entry, found);
  }

  private checkId(accountId: string): AccountId {
    if (!isId("acct", accountId)) throw unknownAccount(accountId);
    return accountId;
  }
}

function checkIsNotDeleted({ id, deletedAt }: Account): void {
  if (deletedAt !== null) throw new OperationRefusedError(`The account ${id} is deleted.`);
}

function isSameEntry(one: LedgerEntry, other: LedgerEntry): boolean {
  return (Object.keys(one) as (keyof LedgerEntry)[]).every((member) => other[member] === one[member]);
}

function unknownAccount(id: string): UnknownObjectError {
  return new UnknownObjectError(`There is no account ${id}.`);
}
