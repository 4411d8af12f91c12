import { AuditTrail } from "../../../core/audit/audit-trail.js";
import { expect } from "chai";
import { NodeDigest } from "../../../adapters/crypto/digest.js";
import { SystemRandom } from "../../../adapters/system/random.js";
import { ManageAccounts } from "../../../core/accounts/manage-accounts.js";
import { type Tier, Tiers } from "../../../core/accounts/tiers.js";
import { ManageCredits } from "../../../core/credits/manage-credits.js";
import { AcceptJobs } from "../../../core/jobs/accept-jobs.js";
import type { TransactionWork, UnitOfWork } from "../../../core/ports/unit-of-work.js";
import { aBalance, aMovement, anAccount, anId, NO_UPLOADS } from "../../support/builders.js";
import { SILENT, sqliteStorage, TEST_PORTS } from "../../support/databases.js";
import type { StorageUnderTest } from "../../support/storage-under-test.js";
import { mysqlStorage } from "../../support/mysql.js";
import { MemoryJobQueue } from "../../../adapters/queue/memory/job-queue.js";
import { anAcceptCommand, aGivenKey } from "../../unit/core/jobs/commands.js";

const PLENTY = { perMinute: 1_000, perDay: 1_000 };
const TIER: Tier = {
  name: "pro",
  maxConcurrent: 10,
  monthlyCredits: 0,
  rateLimits: { read: PLENTY, generation: PLENTY, write: PLENTY },
  uploads: NO_UPLOADS,
};

/** Commits, and then runs the work again as if the reply to the commit had been lost. */
function forgetful(unitOfWork: UnitOfWork): UnitOfWork {
  return {
    concurrentWriters: unitOfWork.concurrentWriters,
    async inTransaction<T>(work: TransactionWork<T>): Promise<T> {
      await unitOfWork.inTransaction(work);
      return unitOfWork.inTransaction((tx) => work(tx, { isRetry: true }));
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
      accept = new AcceptJobs({
        unitOfWork: forgetful(unitOfWork),
        idempotency,
        ledger,
        jobs,
        queue,
        metrics: null,
        tracer: null,
        clock: TEST_PORTS.clock,
      });
    });

    after(() => storage.close());

    for (const idempotency of [aGivenKey("a key"), null]) {
      const withKey = `${idempotency === null ? "without" : "with"} an idempotency key`;
      it(`creates one job and one reservation ${withKey}`, async () => {
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

    it("grants once without a reference, renews once, creates one account and issues one key", async () => {
      const { accounts, erasures, installation, ledger, auditLog } = storage;
      const [digest, random, clock] = [new NodeDigest(), new SystemRandom(), TEST_PORTS.clock];
      const trail = { auditLog, unitOfWork: forgetful(storage.unitOfWork), clock, ids: { next: anId }, digest };
      const audit = new AuditTrail({ ...trail, actor: () => ({ name: "test", why: null }) });
      const ports = { accounts, erasures, installation, ledger, audit, clock, tiers: new Tiers([TIER]) };
      const manage = new ManageAccounts({ ...ports, digest, random, ids: { next: anId } });
      const account = await manage.create({ name: "Nightingale Radio", tier: TIER.name, credits: 10 });
      const { key } = await manage.issueKey(account.id);
      expect((await manage.listKeys(account.id)).map(({ id }) => id)).to.deep.equal([key.id]);
      const credits = new ManageCredits(ports);
      await credits.grant(account.id, 5);
      expect(await credits.grant(account.id, 5)).to.include({ monthly: 20, ledgerSeq: 3 });
      expect(await credits.renew(account.id), "this call renewed it").to.include({ monthly: 0, isRepeated: false });
      expect(await credits.renew(account.id)).to.include({ monthly: 0, isRepeated: true });
      expect((await storage.ledger.audit()).violations).to.deep.equal([]);
      await manage.suspend(account.id);
      const recorded = (await auditLog.list({ limit: 100 })).map(({ action }) => action).reverse();
      const created = ["accounts.create", "keys.issue"];
      expect(recorded).to.deep.equal([
        ...created,
        "credits.grant",
        "credits.grant",
        "credits.renew",
        "accounts.suspend",
      ]);
    });
  });
}
