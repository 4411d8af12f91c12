import { expect } from "chai";
import { AuditTrail } from "../../../core/audit/audit-trail.js";
import { createAudit } from "../../../core/audit/create-audit.js";
import { unrecorded } from "../../../core/audit/unrecorded.js";
import { OperationRefusedError } from "../../../core/errors.js";
import type { AuditEntry, AuditRecord } from "../../../core/ports/audit-record.js";
import type { HostTransaction, UnitOfWork } from "../../../core/ports/unit-of-work.js";
import { anAccount, anId } from "../../support/builders.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";

const ENTRY: AuditEntry = {
  action: "accounts.suspend",
  accountId: anId("acct"),
  targets: ["acct_1"],
  fields: { reason: "leaked" },
};

describe("AuditTrail", () => {
  let memory: MemoryCore;
  let why: string | null;
  beforeEach(async () => {
    memory = await memoryCore();
    why = null;
  });

  const trail = (unitOfWork: UnitOfWork = memory.storage.unitOfWork): AuditTrail =>
    new AuditTrail({ ...memory.ports, unitOfWork, actor: () => ({ name: "alice", why }) });
  const records = (): Promise<AuditRecord[]> => memory.storage.auditLog.list({ limit: 10 });
  /** Runs everything twice, as after a reply to a commit that was lost. */
  const twice = (): UnitOfWork =>
    new FaultyPort(memory.storage.unitOfWork).on("inTransaction", async (run, work) => {
      await run(work);
      return run((tx) => work(tx, { isRetry: true }));
    });

  it("records what was done in the transaction that did it, with who did it and when", async () => {
    const account = anAccount();
    const result = await trail().inTransaction(
      async (tx) => {
        await memory.storage.accounts.insertAccounts(tx, [account]);
        return "done";
      },
      (done) => ({ ...ENTRY, fields: { done } }),
    );
    expect(result).to.equal("done");
    const [record] = await records();
    const expected = { ...ENTRY, fields: { done: "done" }, actor: "alice", createdAt: memory.clock.now(), number: 1 };
    expect(record).to.deep.include(expected);
    expect(record?.fields).to.have.all.keys("done");
    expect(await memory.storage.accounts.findAccounts([account.id])).to.have.keys([account.id]);
  });

  it("records the operator's own words", async () => {
    why = "ticket 7";
    await trail().note(ENTRY);
    expect((await records())[0]).to.deep.include({
      action: ENTRY.action,
      fields: { reason: "leaked", why: "ticket 7" },
    });
  });

  it("records nothing where nothing was changed, and writes nothing where the work fails", async () => {
    await trail().inTransaction(
      async () => "nothing",
      () => null,
    );
    const account = anAccount();
    const failing = trail().inTransaction(
      async (tx) => {
        await memory.storage.accounts.insertAccounts(tx, [account]);
        throw new Error("It is no use.");
      },
      () => ENTRY,
    );
    expect(await failing.catch(String)).to.include("It is no use.");
    expect(await records()).to.deep.equal([]);
    expect((await memory.storage.accounts.findAccounts([account.id])).size).to.equal(0);
  });

  it("records one action once, also when its transaction runs again after a lost reply", async () => {
    await trail(twice()).note(ENTRY);
    expect(await records()).to.have.length(1);
    await trail().note(ENTRY);
    expect((await records()).map(({ number }) => number)).to.deep.equal([2, 1]);
  });

  it("records alongside what another transaction does, once however often that runs", async () => {
    const alongside = trail().alongside((name: string) => (name === "" ? null : { ...ENTRY, fields: { name } }));
    for (const name of ["", "one", "one"]) await memory.storage.inTransaction((tx) => alongside(tx, name));
    expect((await records()).map(({ fields }) => fields)).to.deep.equal([{ name: "one" }]);
  });

  it("records in a transaction of the app, where the storage can join it", async () => {
    const own: HostTransaction = { name: "theirs" };
    const joined: HostTransaction[] = [];
    const { inTransaction } = memory.storage;
    const joining: UnitOfWork = {
      concurrentWriters: 1,
      inTransaction: () => expect.fail("It begins no transaction of its own."),
      join: async (transaction, work, committed) => {
        joined.push(transaction);
        const result = await inTransaction((tx) => work(tx, { isRetry: false }));
        committed(result);
        return result;
      },
    };
    expect(
      await trail(joining).inTransaction(
        async () => 7,
        () => ENTRY,
        own,
      ),
    ).to.equal(7);
    expect(joined).to.deep.equal([own]);
    expect(await records()).to.have.length(1);
    const alone: UnitOfWork = { concurrentWriters: 1, inTransaction };
    expect(() =>
      trail(alone).inTransaction(
        async () => 7,
        () => ENTRY,
        own,
      ),
    ).to.throw(OperationRefusedError, "This storage cannot join");
  });
});

describe("createAudit", () => {
  it("has the installation's name act, unless another one acts now", async () => {
    const { ports, storage } = await memoryCore();
    let acting: { name: string; why: string | null } | null = null;
    const { trail, read } = createAudit(ports, { actor: "console", acting: () => acting });
    await trail.note(ENTRY);
    acting = { name: "bob", why: null };
    await trail.note(ENTRY);
    await createAudit(ports, { actor: "cli" }).trail.note(ENTRY);
    expect((await read.list({ limit: 9 })).map(({ actor }) => actor)).to.deep.equal(["cli", "bob", "console"]);
    expect(await storage.auditLog.findHead()).to.include({ number: 3 });
  });

  it("refuses a name that no record can hold", async () => {
    const { ports } = await memoryCore();
    for (const actor of ["", "x".repeat(101), "half \ud800"])
      expect(() => createAudit(ports, { actor })).to.throw("An actor's name has 1 to 100 characters.");
    for (const actor of ["x", "x".repeat(100)]) expect(() => createAudit(ports, { actor })).not.to.throw();
  });
});

describe("What accounts do themselves", () => {
  it("is done, and not recorded", async () => {
    const { storage } = await memoryCore();
    const audit = unrecorded(storage.unitOfWork);
    expect(
      await audit.inTransaction(
        async () => 7,
        () => ENTRY,
      ),
    ).to.equal(7);
    await audit.note(ENTRY);
    await storage.inTransaction((tx) => audit.alongside(() => ENTRY)(tx, 7));
    expect(await storage.auditLog.list({ limit: 1 })).to.deep.equal([]);
  });
});
