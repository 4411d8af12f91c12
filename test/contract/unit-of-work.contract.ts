import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import type { Transaction } from "../../core/ports/unit-of-work.js";
import { aMovement, anAccount } from "../support/builders.js";
import type { StorageWith } from "../support/storage-under-test.js";

type Storage = StorageWith<"accounts" | "addAccount" | "balanceOf" | "ledger" | "unitOfWork">;

/**
 * The promises of every `UnitOfWork`.
 *
 * @param open opens a storage without rows, once for the suite; {@link storageUnderTest} creates it
 */
export function unitOfWorkContract(name: string, open: () => Promise<Storage>): void {
  describe(`UnitOfWork contract: ${name}`, () => {
    let storage: Storage;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    const exists = async (account: { id: ReturnType<typeof anAccount>["id"] }): Promise<boolean> =>
      (await storage.accounts.findAccounts([account.id])).has(account.id);

    it("returns the result of the work after the commit", async () => {
      const account = anAccount();
      const response = await storage.unitOfWork.inTransaction(async (tx) => {
        await storage.accounts.insertAccounts(tx, [account]);
        return "written";
      });
      expect(response).to.equal("written");
      expect(await exists(account)).to.equal(true);
    });

    it("writes nothing when the work throws, and rethrows the error", async () => {
      const account = anAccount();
      const cause = new Error("second thoughts");
      const outcome = storage.unitOfWork.inTransaction(async (tx) => {
        await storage.accounts.insertAccounts(tx, [account]);
        throw cause;
      });
      expect(await outcome.catch((error: unknown) => error)).to.equal(cause);
      expect(await exists(account)).to.equal(false);
    });

    it("runs the work once when it throws an error of its own", async () => {
      let runs = 0;
      await storage.unitOfWork
        .inTransaction(() => {
          runs++;
          return Promise.reject(new Error("no"));
        })
        .catch(() => undefined);
      expect(runs).to.equal(1);
    });

    it("runs the work again from its start after a duplicate key, with nothing of the first run", async () => {
      const taken = await storage.addAccount();
      const [first, second] = [anAccount(), anAccount()];
      let runs = 0;
      await storage.unitOfWork.inTransaction(async (tx) => {
        runs++;
        await storage.accounts.insertAccounts(tx, runs === 1 ? [first, taken] : [second]);
      });
      expect(runs).to.equal(2);
      expect([await exists(first), await exists(second)]).to.deep.equal([false, true]);
    });

    it("says in each run whether it is the first: `isRetry` is false once, and true in every later run", async () => {
      const taken = await storage.addAccount();
      const account = anAccount();
      const retries: boolean[] = [];
      await storage.unitOfWork.inTransaction(async (tx, { isRetry }) => {
        retries.push(isRetry);
        await storage.accounts.insertAccounts(tx, [retries.length < 3 ? taken : account]);
      });
      expect(retries).to.deep.equal([false, true, true]);
      await storage.unitOfWork.inTransaction((_tx, { isRetry }) => Promise.resolve(retries.push(isRetry)));
      expect(retries.at(-1)).to.equal(false);
    });

    it("stops after a few runs, with nothing written", async () => {
      const taken = await storage.addAccount();
      const account = anAccount();
      let runs = 0;
      const outcome = storage.unitOfWork.inTransaction(async (tx) => {
        runs++;
        await storage.accounts.insertAccounts(tx, [account, taken]);
      });
      expect(await outcome.catch((error: unknown) => error)).to.be.instanceOf(Error);
      expect(runs).to.be.within(2, 10);
      expect(await exists(account)).to.equal(false);
    });

    it("continues after failed work", async () => {
      await storage.unitOfWork.inTransaction(() => Promise.reject(new Error("no"))).catch(() => undefined);
      const account = anAccount();
      await storage.unitOfWork.inTransaction((tx) => storage.accounts.insertAccounts(tx, [account]));
      expect(await exists(account)).to.equal(true);
    });

    it("does not show an open transaction to reads outside it, nor block them", async () => {
      const account = anAccount();
      await storage.unitOfWork.inTransaction(async (tx) => {
        await storage.accounts.insertAccounts(tx, [account]);
        expect(await exists(account)).to.equal(false);
      });
      expect(await exists(account)).to.equal(true);
    });

    it("shows a read what was committed before it started", async () => {
      for (let turn = 0; turn < 20; turn++) {
        const account = anAccount();
        await storage.unitOfWork.inTransaction((tx) => storage.accounts.insertAccounts(tx, [account]));
        expect(await exists(account)).to.equal(true);
      }
    });

    it("loses no update between concurrent transactions", async () => {
      const account = await storage.addAccount();
      const addOne = (tx: Transaction): Promise<void> => addPack(storage, tx, account.id);
      await Promise.all(Array.from({ length: 10 }, () => storage.unitOfWork.inTransaction(addOne)));
      expect(await storage.balanceOf(account.id)).to.include({ pack: 10, ledgerSeq: 11 });
    });

    for (const [ending, end] of [
      ["was written", () => Promise.resolve()],
      ["failed", () => Promise.reject(new Error("no"))],
    ] as const) {
      it(`refuses a transaction handle after its work ${ending}`, async () => {
        let kept: Transaction | undefined;
        const keepHandle = (tx: Transaction): Promise<void> => {
          kept = tx;
          return end();
        };
        await storage.unitOfWork.inTransaction(keepHandle).catch(() => undefined);
        const account = anAccount();
        const outcome = storage.accounts.insertAccounts(kept as Transaction, [account]);
        expect(await outcome.catch((error: unknown) => error)).to.be.instanceOf(Error);
        expect(await exists(account)).to.equal(false);
      });
    }

    it("declares how many writers make progress at once", () => {
      expect(storage.unitOfWork.concurrentWriters).to.be.greaterThan(0);
    });
  });
}

/** Reads, waits, then writes its decision: without a lock, updates are lost. */
async function addPack(
  storage: Storage,
  tx: Transaction,
  accountId: ReturnType<typeof anAccount>["id"],
): Promise<void> {
  const balance = (await storage.ledger.lockBalances(tx, [accountId])).get(accountId);
  if (balance === undefined) throw new Error("the account has a balance");
  await nextTurn();
  await storage.ledger.apply(tx, [aMovement(balance, { pack: 1 })]);
}
