import { expect } from "chai";
import { NodeDigest } from "../../adapters/crypto/digest.js";
import { createStores, openDatabase, type Stores } from "../../adapters/storage/sql/index.js";
import { AuditTrail } from "../../core/audit/audit-trail.js";
import type { AuditEntry } from "../../core/ports/audit-record.js";
import { ReadAudit } from "../../core/audit/read-audit.js";
import { OperationRefusedError } from "../../core/errors.js";
import { anId } from "../support/builders.js";
import { SILENT, sqliteStorage, type SqliteUnderTest, TEST_PORTS } from "../support/databases.js";
import { mysqlStorage, type MysqlUnderTest } from "../support/mysql.js";

const ENTRY: AuditEntry = { action: "accounts.suspend", accountId: null, targets: ["x"], fields: { reason: "leaked" } };
const digest = new NodeDigest();

function trailOf({ auditLog, unitOfWork }: Stores, actor = "test"): AuditTrail {
  return new AuditTrail({
    auditLog,
    unitOfWork,
    clock: TEST_PORTS.clock,
    ids: { next: anId },
    digest,
    actor: () => ({ name: actor, why: null }),
  });
}

for (const { name, open } of [sqliteStorage, mysqlStorage]) {
  describe(`The chain of the audit log: ${name}`, function () {
    this.timeout(60_000);
    let storage: SqliteUnderTest | MysqlUnderTest;
    let audit: ReadAudit;
    beforeEach(async () => {
      storage = await open();
      audit = new ReadAudit({ auditLog: storage.auditLog, digest });
    });
    afterEach(() => storage.close());

    async function record(count: number): Promise<void> {
      const trail = trailOf(storage);
      for (let created = 0; created < count; created++) await trail.note(ENTRY);
    }

    const change = (text: string): Promise<unknown> => storage.database.write.raw(text);

    it("has one head, however many records several processes write at once", async () => {
      const other = await openDatabase({ url: storage.url, logger: SILENT });
      try {
        const trails = [trailOf(storage, "one"), trailOf(createStores(other, TEST_PORTS), "other")];
        await Promise.all(Array.from({ length: 20 }, (_, index) => (trails[index % 2] as AuditTrail).note(ENTRY)));
      } finally {
        await other.close();
      }
      const found = await audit.verify();
      expect([found.count, found.broken]).to.deep.equal([20, null]);
      const actors = (await audit.list({ limit: 100 })).map(({ actor }) => actor);
      expect(actors.filter((actor) => actor === "one")).to.have.lengthOf(10);
    });

    it("verifies more records than one page, and returns the head of the chain", async () => {
      await storage.inTransaction(async (tx) => {
        // Separate records would take a commit each.
        const trail = trailOf({
          ...storage,
          unitOfWork: { concurrentWriters: 1, inTransaction: (work) => work(tx, { isRetry: false }) },
        });
        for (let created = 0; created < 501; created++) await trail.note(ENTRY);
      });
      const [last] = await audit.list({ limit: 1 });
      expect(await audit.verify()).to.deep.equal({ count: 501, head: last?.hash, broken: null });
    });

    it("writes the record in the transaction of its change: both or none", async () => {
      const account = await storage.addAccount();
      const trail = trailOf(storage);
      const failing = trail.inTransaction(
        async (tx) => {
          await storage.accounts.updateAccount(tx, account.id, { tier: "free" });
        },
        () => {
          throw new Error("cannot be described");
        },
      );
      expect(await failing.catch((error: unknown) => (error as Error).message)).to.equal("cannot be described");
      expect((await storage.accounts.findAccounts([account.id])).get(account.id)?.tier).to.equal(account.tier);
      await trail.inTransaction(
        (tx) => storage.accounts.updateAccount(tx, account.id, { tier: "free" }),
        () => ENTRY,
      );
      expect((await audit.verify()).count).to.equal(1);
    });

    it("records nothing when nothing was changed", async () => {
      await trailOf(storage).inTransaction(
        () => Promise.resolve(),
        () => null,
      );
      expect((await audit.verify()).count).to.equal(0);
    });

    for (const [what, text, number, problem] of [
      [
        "a changed field",
        `UPDATE fermata_audit_log SET fields = '{"reason":"routine"}' WHERE number = 2`,
        2,
        /was changed/,
      ],
      ["a field that is no JSON", `UPDATE fermata_audit_log SET fields = '{' WHERE number = 2`, 2, /was changed/],
      ["another actor", `UPDATE fermata_audit_log SET actor = 'stranger' WHERE number = 3`, 3, /was changed/],
      ["another time", `UPDATE fermata_audit_log SET created_at = created_at + 1 WHERE number = 1`, 1, /was changed/],
      ["another hash", `UPDATE fermata_audit_log SET hash = previous_hash WHERE number = 2`, 2, /was changed/],
      [
        "another predecessor",
        `UPDATE fermata_audit_log SET previous_hash = hash WHERE number = 3`,
        3,
        /does not follow/,
      ],
      ["a record left out", `DELETE FROM fermata_audit_log WHERE number = 2`, 3, /missing before it: record 2/],
      ["the first left out", `DELETE FROM fermata_audit_log WHERE number = 1`, 2, /missing before it: record 1/],
      ["the last left out", `DELETE FROM fermata_audit_log WHERE number = 4`, 4, /missing: the chain had 4 records/],
    ] as const) {
      it(`finds ${what}`, async () => {
        await record(4);
        await change(text);
        const { broken } = await audit.verify();
        expect(broken?.number).to.equal(number);
        expect(broken?.problem).to.match(problem);
      });
    }

    it("detects by an earlier head that the newest records and the stored head were removed", async () => {
      await record(2);
      const early = (await audit.verify()).head;
      await record(2);
      const { head } = await audit.verify();
      expect((await audit.verify(early)).broken).to.equal(null);
      expect((await audit.verify(head)).broken).to.equal(null);
      await change("DELETE FROM fermata_audit_log WHERE number > 3");
      const [third] = await audit.list({ limit: 1 });
      await change(`UPDATE fermata_audit_head SET number = 3, hash = '${third?.hash}'`);
      expect((await audit.verify()).broken).to.equal(null);
      const found = await audit.verify(head);
      expect([found.count, found.broken?.number]).to.deep.equal([3, 4]);
      expect(found.broken?.problem).to.include("the given head is not in the chain");
      expect((await audit.verify(early)).broken).to.equal(null);
    });

    it("refuses a head that is not a hash", async () => {
      const error = await audit.verify("abc").catch((cause: unknown) => cause);
      expect(error).to.be.instanceOf(OperationRefusedError);
    });
  });
}
