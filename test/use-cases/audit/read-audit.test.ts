import { expect } from "chai";
import { NodeDigest } from "../../../adapters/crypto/digest.js";
import { EMPTY_CHAIN, hashOf, nextRecord } from "../../../core/audit/audit-record.js";
import { type AuditVerification, ReadAudit } from "../../../core/audit/read-audit.js";
import type { AuditEntry, AuditRecord } from "../../../core/ports/audit-record.js";
import { anId, NOON } from "../../support/builders.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";

const digest = new NodeDigest();

describe("ReadAudit", () => {
  let memory: MemoryCore;
  beforeEach(async () => {
    memory = await memoryCore();
  });

  /** Appends records, by their numbers. */
  async function append(count: number): Promise<AuditRecord[]> {
    const { auditLog } = memory.storage;
    return memory.storage.inTransaction(async (tx) => {
      const records: AuditRecord[] = [];
      let head = await auditLog.lockHead(tx);
      for (let created = 0; created < count; created++) {
        const entry: AuditEntry = { action: "accounts.create", accountId: null, targets: [], fields: { created } };
        const record = nextRecord(head, { ...entry, id: anId("aud"), actor: "alice", createdAt: NOON }, digest);
        await auditLog.append(tx, record);
        records.push(record);
        head = record;
      }
      return records;
    });
  }

  /** Verifies what a storage returns, changed by an attacker. */
  function verify(change: (records: AuditRecord[]) => AuditRecord[], head?: string): Promise<AuditVerification> {
    const auditLog = new FaultyPort(memory.storage.auditLog).on("page", async (page, after, limit) =>
      change(await page(after, limit)),
    );
    return new ReadAudit({ auditLog, digest }).verify(head);
  }
  const unchanged = (records: AuditRecord[]): AuditRecord[] => records;

  it("lists what was done, the newest first", async () => {
    const records = await append(3);
    const audit = new ReadAudit({ auditLog: memory.storage.auditLog, digest });
    expect(await audit.list({ limit: 2 })).to.deep.equal(records.toReversed().slice(0, 2));
  });

  it("finds nothing wrong with a chain that no one changed, of no record and of more than a page", async () => {
    const empty = { count: 0, head: EMPTY_CHAIN.hash, broken: null };
    expect(await verify(unchanged)).to.deep.equal(empty);
    expect(await verify(unchanged, EMPTY_CHAIN.hash)).to.deep.equal(empty);
    const records = await append(501);
    expect(await verify(unchanged)).to.deep.equal({ count: 501, head: records[500]?.hash, broken: null });
    expect(await verify(unchanged, records[3]?.hash)).to.deep.include({ broken: null });
  });

  it("finds a record that was changed, and up to where the chain is whole", async () => {
    const [first] = await append(3);
    const forged = await verify((all) => all.map((one) => (one.number === 2 ? { ...one, actor: "mallory" } : one)));
    expect(forged).to.deep.equal({
      count: 1,
      head: first?.hash,
      broken: { number: 2, problem: "its members do not give its hash: it was changed" },
    });
    const rehashed = await verify((all) =>
      all.map((one) => {
        if (one.number !== 2) return one;
        const changed = { ...one, actor: "mallory" };
        return { ...changed, hash: hashOf(changed, digest) };
      }),
    );
    expect(rehashed.broken).to.deep.equal({ number: 3, problem: "it does not follow the record before it" });
  });

  it("finds a record that was taken away, in the middle and at the end", async () => {
    await append(3);
    const middle = await verify((all) => all.filter(({ number }) => number !== 2));
    expect(middle.broken).to.deep.equal({ number: 3, problem: "missing before it: record 2" });
    const end = await verify((all) => all.filter(({ number }) => number < 3));
    expect(end).to.deep.include({ count: 2, broken: { number: 3, problem: "missing: the chain had 3 records" } });
  });

  it("finds that the newest were taken away with all that knew of them, by a head kept elsewhere", async () => {
    const [, , third] = await append(3);
    const shortened = new FaultyPort(memory.storage.auditLog);
    shortened.on("findHead", async (find) => ({ ...(await find()), number: 2 }));
    const auditLog = shortened.on("page", async (page, after, limit) => (await page(after, limit)).slice(0, 2));
    const audit = new ReadAudit({ auditLog, digest });
    expect(await audit.verify()).to.deep.include({ count: 2, broken: null });
    const problem = "missing: the given head is not in the chain";
    expect((await audit.verify(third?.hash)).broken).to.deep.equal({ number: 3, problem });
  });

  it("refuses a head that is no hash", async () => {
    for (const head of ["", "abc", `${"0".repeat(64)} `, ` ${"0".repeat(64)}`, "G".repeat(64)]) {
      expect(await verify(unchanged, head).catch(String)).to.include("A head is a hash of 64 hexadecimal digits");
    }
  });
});
