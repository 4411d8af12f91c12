import type { Account } from "../../core/ports/account.js";
import type { Balance, Movement } from "../../core/credits/balance.js";
import type { AccountId } from "../../core/ids.js";
import type { AccountStore } from "../../core/ports/account-store.js";
import type { LedgerStore } from "../../core/ports/ledger-store.js";
import type { Stores } from "../../core/ports/stores.js";
import type { UnitOfWork } from "../../core/ports/unit-of-work.js";
import { aBalance, aMovement, anAccount } from "./builders.js";

/**
 * A storage that the contract suites of stores run against: its schema is there and has no rows, and one suite uses it
 * alone. {@link storageUnderTest} creates it from stores. A suite asks for the members that it uses, as
 * {@link StorageWith}.
 */
export interface StorageUnderTest extends Stores {
  /** That of `unitOfWork`. */
  readonly inTransaction: UnitOfWork["inTransaction"];
  /** Adds an account that owns these credits. */
  addAccount(
    account?: Partial<Account>,
    credits?: { readonly monthly?: number; readonly pack?: number },
  ): Promise<Account>;
  /** Writes ledger entries with their balances, all in one transaction. */
  apply(...movements: readonly Movement[]): Promise<void>;
  balanceOf(accountId: AccountId): Promise<Balance>;
  /** Called once, after the last test of a suite: ends connections, deletes files. */
  close(): Promise<void>;
}

/** A storage with `inTransaction`, `close` and these members: what one suite needs. */
export type StorageWith<Member extends keyof StorageUnderTest> = Pick<
  StorageUnderTest,
  Member | "inTransaction" | "close"
>;

/** What the helpers of {@link StorageUnderTest} use: they add accounts with credits. */
interface HelpingStores {
  readonly unitOfWork: UnitOfWork;
  readonly accounts: Pick<AccountStore, "insertAccounts">;
  readonly ledger: Pick<LedgerStore, "apply" | "findBalances">;
}

/**
 * The storage under test of these stores: the stores themselves, with helpers that use nothing but the stores. Which
 * further stores are needed depends on the suite.
 *
 * @param close what is to be done after the last test of the suite; nothing by default
 * @example
 * function testAccounts(stores: Stores, close: () => Promise<void>): void {
 *   accountStoreContract("MyAccountStore", async () => storageUnderTest(stores, close));
 * }
 */
export function storageUnderTest<Given extends HelpingStores>(
  stores: Given,
  close: StorageUnderTest["close"] = () => Promise.resolve(),
): Given & Omit<StorageUnderTest, keyof Stores> {
  const inTransaction: StorageUnderTest["inTransaction"] = (work) => stores.unitOfWork.inTransaction(work);
  return {
    ...stores,
    inTransaction,
    close,
    async addAccount(overrides = {}, credits = {}) {
      const account = anAccount(overrides);
      await inTransaction(async (tx) => {
        await stores.accounts.insertAccounts(tx, [account]);
        await stores.ledger.apply(tx, [aMovement(aBalance({ accountId: account.id }), credits)]);
      });
      return account;
    },
    apply: (...movements) => inTransaction((tx) => stores.ledger.apply(tx, movements)),
    async balanceOf(accountId) {
      const balance = (await stores.ledger.findBalances([accountId])).get(accountId);
      if (balance === undefined) throw new Error(`There is no balance of ${accountId}.`);
      return balance;
    },
  };
}
