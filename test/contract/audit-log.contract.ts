import { expect } from "chai";
import { NodeDigest } from "../../adapters/crypto/digest.js";
import { EMPTY_CHAIN, nextRecord } from "../../core/audit/audit-record.js";
import type { AuditEntry, AuditHead, AuditRecord } from "../../core/ports/audit-record.js";
import type { AuditLog } from "../../core/ports/audit-log.js";
import { anId, NOON } from "../support/builders.js";
import type { StorageWith } from "../support/storage-under-test.js";

type Storage = StorageWith<"auditLog">;

const ENTRY: AuditEntry = { action: "accounts.create", accountId: null, targets: [], fields: {} };

/**
 * The promises of every `AuditLog`.
 *
 * @param open opens a storage without rows, once for the suite; {@link storageUnderTest} creates it
 */
export function auditLogContract(name: string, open: () => Promise<Storage>): void {
  describe(`AuditLog contract: ${name}`, () => {
    let storage: Storage;
    let log: AuditLog;
    /** The head of the chain before a test. */
    let head: AuditHead;
    before(async () => {
      storage = await open();
      log = storage.auditLog;
    });
    after(() => storage.close());
    beforeEach(async () => {
      head = await log.findHead();
    });

    async function append(entry: Partial<AuditEntry> = {}, createdAt = NOON): Promise<AuditRecord> {
      const created = { ...ENTRY, ...entry, id: anId("aud"), actor: "Zoë 🎼 ", createdAt };
      return storage.inTransaction(async (tx) => {
        const record = nextRecord(await log.lockHead(tx), created, new NodeDigest());
        await log.append(tx, record);
        return record;
      });
    }

    it("starts with an empty chain", async () => {
      expect(await log.findHead()).to.deep.equal(EMPTY_CHAIN);
      expect([await log.list({ limit: 10 }), await log.page(0, 10)]).to.deep.equal([[], []]);
    });

    it("stores every member, and the head of the chain", async () => {
      const first = await append();
      const accountId = anId("acct");
      const fields = { reason: "Schlüssel ✂", count: 3, flag: true, nothing: null };
      const second = await append({ action: "accounts.suspend", accountId, targets: [accountId, "x"], fields });
      expect(await log.page(head.number, 10)).to.deep.equal([first, second]);
      expect(second).to.include({ number: head.number + 2, previousHash: first.hash });
      expect(await log.findHead()).to.deep.equal({ number: head.number + 2, hash: second.hash });
    });

    it("takes no record that does not follow the last one, and keeps nothing of it", async () => {
      const last = await append();
      const created = { ...ENTRY, id: anId("aud"), actor: "Zoë", createdAt: NOON };
      const skipping = nextRecord({ ...last, number: last.number + 5 }, created, new NodeDigest());
      const problem = await storage
        .inTransaction((tx) => log.append(tx, skipping))
        .then(
          () => null,
          (error: unknown) => error,
        );
      expect(problem).to.be.instanceOf(Error);
      expect(await log.findHead()).to.deep.equal({ number: last.number, hash: last.hash });
      expect(await log.page(last.number, 10)).to.deep.equal([]);
    });

    it("pages by number, oldest first, and lists newest first", async () => {
      const records = [await append(), await append(), await append()];
      expect(await log.page(head.number + 1, 1)).to.deep.equal([records[1]]);
      expect(await log.page(head.number + 3, 10)).to.deep.equal([]);
      expect(await log.list({ limit: 2 })).to.deep.equal([records[2], records[1]]);
    });

    it("lists by account, action and time, also combined", async () => {
      const accountId = anId("acct");
      const old = await append({ accountId, action: "keys.issue" }, NOON - 1);
      const wanted = await append({ accountId, action: "keys.issue" });
      const other = await append({ accountId, action: "credits.grant" });
      await append({ action: "keys.issue" });
      expect(await log.list({ accountId, limit: 10 })).to.deep.equal([other, wanted, old]);
      expect(await log.list({ accountId, action: "keys.issue", since: NOON, limit: 10 })).to.deep.equal([wanted]);
      expect(await log.list({ accountId: anId("acct"), limit: 10 })).to.deep.equal([]);
    });

    it("returns which records exist", async () => {
      const { id } = await append();
      const known = await storage.inTransaction(async (tx) => [await log.has(tx, id), await log.has(tx, anId("aud"))]);
      expect(known).to.deep.equal([true, false]);
    });

    it("stores nothing of a failed transaction", async () => {
      const failure = storage.inTransaction(async (tx) => {
        const created = {
          id: anId("aud"),
          actor: "x",
          createdAt: NOON,
          action: "jobs.cancel",
          accountId: null,
        } as const;
        await log.append(
          tx,
          nextRecord(await log.lockHead(tx), { ...created, targets: [], fields: {} }, new NodeDigest()),
        );
        throw new Error("changed its mind");
      });
      expect(await failure.catch((error: unknown) => (error as Error).message)).to.equal("changed its mind");
      expect(await log.findHead()).to.deep.equal(head);
      expect((await append()).number).to.equal(head.number + 1);
    });
  });
}
