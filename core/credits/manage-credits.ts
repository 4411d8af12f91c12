import type { Tiers } from "../accounts/tiers.js";
import { OperationRefusedError } from "../errors.js";
import { type AccountId, isId } from "../ids.js";
import type { AccountStore } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { LedgerAudit, LedgerStore } from "../ports/ledger-store.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import type { Balance, LedgerEntry, Movement } from "./balance.js";
import { type Bucket, grant } from "./grant.js";
import { renew } from "./renew.js";

export interface GrantOptions {
  /** `monthly` by default. */
  readonly bucket?: Bucket;
  /** What it is for (`order 17`), 1 to 200 characters, unique among all grants: a repeated grant then changes nothing. */
  readonly reference?: string;
}

export interface ManageCreditsPorts {
  readonly unitOfWork: UnitOfWork;
  readonly accounts: AccountStore;
  readonly ledger: LedgerStore;
  readonly clock: Clock;
  readonly tiers: Tiers;
}

const REFERENCE_MAX_LENGTH = 200;

/** Credits, for callers, operators and embedding apps. */
export class ManageCredits {
  constructor(private readonly ports: ManageCreditsPorts) {}

  /** @throws {OperationRefusedError} no such account */
  async balance(accountId: string): Promise<Balance> {
    const id = this.checkId(accountId);
    const balance = (await this.ports.ledger.findBalances([id])).get(id);
    if (balance === undefined) throw unknownAccount(accountId);
    return balance;
  }

  /**
   * Adds credits. With a reference that was used before for the same account, bucket and amount it changes nothing.
   *
   * @returns the balance afterwards
   * @throws {OperationRefusedError} no such account, an amount that cannot be, or a reference used for something else
   */
  async grant(accountId: string, amount: number, options: GrantOptions = {}): Promise<Balance> {
    const bucket = options.bucket ?? "monthly";
    const reference = options.reference ?? null;
    if (reference !== null && (reference.length < 1 || reference.length > REFERENCE_MAX_LENGTH)) {
      throw new OperationRefusedError(`A reference has 1 to ${REFERENCE_MAX_LENGTH} characters.`);
    }
    const { ledger, unitOfWork, clock } = this.ports;
    const id = this.checkId(accountId);
    let tried: LedgerEntry | null = null;
    return unitOfWork.inTransaction(async (tx) => {
      const balance = (await ledger.lockBalances(tx, [id])).get(id);
      if (balance === undefined) throw unknownAccount(accountId);
      const earlier = reference === null ? null : await ledger.findByReference(tx, reference);
      if (earlier !== null) {
        if (earlier.accountId === id && earlier[bucket] === amount) return balance;
        throw new OperationRefusedError(`The reference ${reference} was used for another grant.`);
      }
      // Without a reference, a run before this one tells by its entry that it was committed although its reply was lost.
      if (tried !== null && (await this.isWritten(tried, balance))) return balance;
      const movement = grant(balance, amount, bucket, reference, clock.now());
      tried = movement.entries[0] ?? null;
      await ledger.apply(tx, [movement]);
      return movement.after;
    });
  }

  /** Starts a new month. @returns the balance afterwards. @throws {OperationRefusedError} no such account */
  async renew(accountId: string): Promise<Balance> {
    const { ledger, unitOfWork, accounts, clock, tiers } = this.ports;
    const id = this.checkId(accountId);
    const account = (await accounts.findAccounts([id])).get(id);
    if (account === undefined) throw unknownAccount(accountId);
    return unitOfWork.inTransaction(async (tx) => {
      const balance = (await ledger.lockBalances(tx, [id])).get(id);
      if (balance === undefined) throw unknownAccount(accountId);
      const movement: Movement = renew(balance, tiers.of(account.tier).monthlyCredits, clock.now());
      if (movement.entries.length > 0) await ledger.apply(tx, [movement]);
      return movement.after;
    });
  }

  /** Checks every invariant of the ledger. */
  verify(): Promise<LedgerAudit> {
    return this.ports.ledger.audit();
  }

  private async isWritten(entry: LedgerEntry, { ledgerSeq }: Balance): Promise<boolean> {
    if (ledgerSeq < entry.seq) return false;
    const entries = await this.ports.ledger.listEntries(entry.accountId, ledgerSeq - entry.seq + 1);
    const found = entries.find(({ seq }) => seq === entry.seq);
    return found !== undefined && (Object.keys(entry) as (keyof LedgerEntry)[]).every((member) => found[member] === entry[member]);
  }

  private checkId(accountId: string): AccountId {
    if (!isId("acct", accountId)) throw unknownAccount(accountId);
    return accountId;
  }
}

function unknownAccount(id: string): OperationRefusedError {
  return new OperationRefusedError(`There is no account ${id}.`);
}
