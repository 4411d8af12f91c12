import { expect } from "chai";
import { anAccount } from "../support/builders.js";
import type { StorageWith } from "../support/storage-under-test.js";

/** A transaction of an app that the suite commits or rolls back. */
export interface HostTransactionUnderTest {
  /** As `UnitOfWork.join` takes it. */
  readonly transaction: object;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** A storage, and an app's library on the same database. */
export interface HostTransactionsUnderTest {
  readonly storage: StorageWith<"accounts" | "unitOfWork">;
  begin(): Promise<HostTransactionUnderTest>;
  /** Whether its library tells of a commit. */
  readonly tells: boolean;
  close(): Promise<void>;
}

/**
 * The promises of `UnitOfWork.join`, for one library of an app.
 *
 * @param open opens a storage without rows, and the app's library on the same database
 */
export function hostTransactionsContract(name: string, open: () => Promise<HostTransactionsUnderTest>): void {
  describe(`UnitOfWork contract, transactions of an app: ${name}`, () => {
    let test: HostTransactionsUnderTest;
    const notified: string[] = [];
    before(async () => {
      test = await open();
    });
    beforeEach(() => {
      notified.length = 0;
    });
    after(async () => {
      await test.close();
      await test.storage.close();
    });

    const exists = async ({ id }: ReturnType<typeof anAccount>): Promise<boolean> =>
      (await test.storage.accounts.findAccounts([id])).has(id);

    async function join(transaction: object, account: ReturnType<typeof anAccount>, fails = false): Promise<string> {
      const { unitOfWork, accounts } = test.storage;
      if (unitOfWork.join === undefined) throw new Error("The unit of work has no join.");
      return unitOfWork.join(
        transaction,
        async (tx, { isRetry }) => {
          expect(isRetry).to.equal(false);
          await accounts.insertAccounts(tx, [account]);
          if (fails) throw new Error("second thoughts");
          return account.name;
        },
        (result) => void notified.push(result),
      );
    }

    const refusalOf = async (transaction: unknown): Promise<unknown> =>
      join(transaction as object, anAccount()).catch((error: unknown) => error);

    it("writes what is joined when the app commits, and not before", async () => {
      const [one, other] = [anAccount(), anAccount()];
      const { transaction, commit } = await test.begin();
      expect(await join(transaction, one)).to.equal(one.name);
      await join(transaction, other);
      expect([await exists(one), await exists(other), notified]).to.deep.equal([false, false, []]);
      await commit();
      expect([await exists(one), await exists(other)]).to.deep.equal([true, true]);
      expect(notified).to.deep.equal(test.tells ? [one.name, other.name] : []);
    });

    it("writes nothing when the app rolls back", async () => {
      const account = anAccount();
      const { transaction, rollback } = await test.begin();
      await join(transaction, account);
      await rollback();
      expect(await exists(account)).to.equal(false);
    });

    it("takes back work that throws, and the transaction goes on", async () => {
      const [failed, other] = [anAccount(), anAccount()];
      const { transaction, commit } = await test.begin();
      const outcome = await join(transaction, failed, true).catch((error: unknown) => error);
      expect(outcome).to.be.an("error").with.property("message", "second thoughts");
      await join(transaction, other);
      await commit();
      expect([await exists(failed), await exists(other)]).to.deep.equal([false, true]);
    });

    it("runs joins of one transaction that are called at once one after another", async () => {
      const accounts = [anAccount(), anAccount(), anAccount()] as const;
      const { transaction, commit } = await test.begin();
      const joins = accounts.map((account, index) => join(transaction, account, index === 1));
      const states = (await Promise.allSettled(joins)).map(({ status }) => status);
      expect(states).to.deep.equal(["fulfilled", "rejected", "fulfilled"]);
      await commit();
      expect(await Promise.all(accounts.map(exists))).to.deep.equal([true, false, true]);
    });

    it("refuses what has ended", async () => {
      const first = await test.begin();
      await first.commit();
      expect(await refusalOf(first.transaction)).to.have.property("name", "OperationRefusedError");
    });

    for (const value of [undefined, null, 17, "transaction", {}, { connection: {} }, () => undefined]) {
      const what = typeof value === "function" ? "a function" : JSON.stringify(value);
      it(`refuses what is no transaction: ${what}`, async () => {
        const refusal = await refusalOf(value);
        expect(refusal).to.have.property("name", "OperationRefusedError");
        expect((refusal as Error).message)
          .to.include("cannot be joined")
          .and.include("Allowed: ");
      });
    }
  });
}
