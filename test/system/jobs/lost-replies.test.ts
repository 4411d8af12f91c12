import { expect } from "chai";
import { AcceptJobs } from "../../../core/jobs/accept-jobs.js";
import type { Transaction, UnitOfWork } from "../../../core/ports/unit-of-work.js";
import { aBalance, aMovement, anAccount } from "../../support/builders.js";
import { SILENT, sqliteStorage, type StorageUnderTest, TEST_PORTS } from "../../support/databases.js";
import { mysqlStorage } from "../../support/mysql.js";
import { MemoryJobQueue } from "../../../adapters/queue/memory/job-queue.js";
import { anAcceptCommand, aGivenKey } from "../../unit/core/jobs/commands.js";

/** Commits, and then runs the work again as if the reply to the commit had been lost. */
function forgetful(unitOfWork: UnitOfWork): UnitOfWork {
  return {
    concurrentWriters: unitOfWork.concurrentWriters,
    async inTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
      await unitOfWork.inTransaction(work);
      return unitOfWork.inTransaction(work);
    },
  };
}

for (const { name, open } of [sqliteStorage, mysqlStorage]) {
  describe(`A commit whose reply is lost: ${name}`, () => {
    let storage: StorageUnderTest;
    let accept: AcceptJobs;

    before(async () => {
      storage = await open();
      const { unitOfWork, idempotency, ledger, jobs } = storage;
      const queue = new MemoryJobQueue(SILENT);
      accept = new AcceptJobs({ unitOfWork: forgetful(unitOfWork), idempotency, ledger, jobs, queue, clock: TEST_PORTS.clock });
    });

    after(() => storage.close());

    for (const idempotency of [aGivenKey("a key"), null]) {
      it(`makes one job and one reservation ${idempotency === null ? "without" : "with"} an idempotency key`, async () => {
        const account = anAccount();
        await storage.inTransaction((tx) => storage.accounts.insertAccounts(tx, [account]));
        await storage.apply(aMovement(aBalance({ accountId: account.id }), { monthly: 10 }));
        const command = anAcceptCommand(account.id, { idempotency });
        const result = await accept.accept(command);
        expect(result.kind).to.equal("accepted");
        const balance = await storage.balanceOf(account.id);
        expect(balance).to.include({ monthly: 10 - command.cost, reservedMonthly: command.cost, runningJobs: 1 });
        expect((await storage.ledger.audit()).violations).to.deep.equal([]);
      });
    }
  });
}
