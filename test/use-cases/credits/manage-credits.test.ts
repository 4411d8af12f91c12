import { expect } from "chai";
import type { ManageCredits } from "../../../core/credits/manage-credits.js";
import { OperationRefusedError, UnknownObjectError } from "../../../core/errors.js";
import type { AccountId } from "../../../core/ids.js";
import { anId } from "../../support/builders.js";
import { OPTIONS } from "../../support/core-options.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";

const tiers = OPTIONS.tiers.map((tier) => ({ ...tier, monthlyCredits: 100 }));
const NEVER = new AbortController().signal;

describe("Credits", () => {
  let memory: MemoryCore;
  let credits: ManageCredits;
  let id: AccountId;
  beforeEach(() => open(false));

  /** @param isTwice every transaction runs again, as after a reply to its commit that was lost */
  async function open(isTwice: boolean): Promise<void> {
    memory = await memoryCore({
      options: { tiers },
      ports: ({ unitOfWork }) => ({
        unitOfWork: new FaultyPort(unitOfWork).on("inTransaction", async (run, work) => {
          if (isTwice) await run(work);
          return run((tx) => work(tx, { isRetry: isTwice }));
        }),
      }),
    });
    ({ credits } = memory.core);
    ({ id } = await memory.storage.addAccount({}, { monthly: 10, pack: 5 }));
  }

  const refusal = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => "done",
      (error: unknown) => (OperationRefusedError.is(error) ? (error as Error).message : `unexpected ${String(error)}`),
    );
  const actions = async (): Promise<unknown[]> =>
    (await memory.storage.auditLog.list({ limit: 9 })).map(({ action, targets, fields }) => [action, targets, fields]);

  it("are a balance and its movements, the newest first", async () => {
    expect(await credits.balance(id)).to.deep.equal(await memory.storage.balanceOf(id));
    await credits.grant(id, 3);
    await credits.grant(id, 4, { bucket: "pack" });
    const kinds = async (limit: number, before?: number): Promise<unknown> =>
      (await credits.entries(id, limit, before)).map(({ seq, monthly, pack }) => [seq, monthly, pack]);
    expect(await kinds(2)).to.deep.equal([
      [3, 0, 4],
      [2, 3, 0],
    ]);
    expect(await kinds(9, 2)).to.deep.equal([[1, 10, 5]]);
    for (const unknown of [anId("acct"), "nonsense"]) {
      const work = [
        credits.balance(unknown),
        credits.entries(unknown, 1),
        credits.grant(unknown, 1),
        credits.renew(unknown),
      ];
      for (const one of work) {
        const error: unknown = await one.catch((cause: unknown) => cause);
        expect(error).to.be.instanceOf(UnknownObjectError);
        expect(String(error)).to.include(`There is no account ${unknown}.`);
      }
    }
  });

  describe("are granted", () => {
    it("to the monthly bucket by default, and recorded", async () => {
      expect(await credits.grant(id, 7)).to.include({ monthly: 17, pack: 5 });
      expect(await credits.grant(id, 2, { bucket: "pack", reference: "order 1" })).to.include({ monthly: 17, pack: 7 });
      expect(await memory.storage.balanceOf(id)).to.include({ monthly: 17, pack: 7, ledgerSeq: 3 });
      expect(await actions()).to.deep.equal([
        ["credits.grant", [id], { amount: 2, bucket: "pack", reference: "order 1" }],
        ["credits.grant", [id], { amount: 7, bucket: "monthly", reference: null }],
      ]);
    });

    it("once for a reference, and not for something else under it", async () => {
      const { id: other } = await memory.storage.addAccount();
      const after = await credits.grant(id, 7, { reference: "order 1" });
      expect(await credits.grant(id, 7, { reference: "order 1" })).to.deep.equal(after);
      expect(await actions()).to.have.length(1);
      const used = "The reference order 1 was used for another grant.";
      expect(await refusal(credits.grant(id, 8, { reference: "order 1" }))).to.equal(used);
      expect(await refusal(credits.grant(id, 7, { reference: "order 1", bucket: "pack" }))).to.equal(used);
      expect(await refusal(credits.grant(other, 7, { reference: "order 1" }))).to.equal(used);
      const { period } = await credits.renew(id);
      expect(await refusal(credits.grant(id, 100, { reference: `renew:${id}:${period}` }))).not.to.equal("done");
    });

    it("not under a reference of another length, or like those of renewals", async () => {
      expect(await refusal(credits.grant(id, 1, { reference: "" }))).to.equal("A reference has 1 to 200 characters.");
      expect(await refusal(credits.grant(id, 1, { reference: "x".repeat(201) }))).to.include("1 to 200");
      expect(await refusal(credits.grant(id, 1, { reference: "renew:x" }))).to.include("begins like those of renewals");
      for (const reference of ["x", "x".repeat(200)]) await credits.grant(id, 1, { reference });
    });

    it("not to a deleted account", async () => {
      await memory.core.accounts.delete(id);
      for (const work of [credits.grant(id, 1), credits.renew(id)])
        expect(await refusal(work)).to.equal(`The account ${id} is deleted.`);
    });

    it("once, also when the reply to the commit is lost", async () => {
      await open(true);
      expect(await credits.grant(id, 7)).to.include({ monthly: 17 });
      expect(await credits.grant(id, 7, { reference: "order 1" })).to.include({ monthly: 24 });
      expect(await memory.storage.balanceOf(id)).to.include({ monthly: 24, ledgerSeq: 3 });
      expect(await actions()).to.have.length(2);
    });

    it("again where an earlier run was rolled back, and others moved credits meanwhile", async () => {
      let runs = 0;
      memory = await memoryCore({
        ports: ({ unitOfWork }) => ({
          unitOfWork: new FaultyPort(unitOfWork).on("inTransaction", async (run, work) => {
            runs += 1;
            if (runs !== 2) return run(work);
            await run(async (tx) => {
              await work(tx, { isRetry: false });
              throw new Error("rolled back");
            }).catch(() => undefined);
            await memory.storage.apply({
              after: { ...(await memory.storage.balanceOf(id)), monthly: 11, ledgerSeq: 2 },
              entries: [{ ...(await credits.entries(id, 1))[0], seq: 2, monthly: 1, pack: 0 } as never],
            });
            return run((tx) => work(tx, { isRetry: true }));
          }),
        }),
      });
      ({ credits } = memory.core);
      ({ id } = await memory.storage.addAccount({}, { monthly: 10 }));
      runs = 1;
      expect(await credits.grant(id, 7)).to.include({ monthly: 18, ledgerSeq: 3 });
    });
  });

  describe("are renewed", () => {
    it("for the current month by default: what is left expires, and the tier's allowance is added", async () => {
      const renewed = await credits.renew(id);
      expect(renewed).to.include({ monthly: 100, pack: 5, period: "2026-11", isRepeated: false });
      expect((await credits.entries(id, 2)).map(({ kind, monthly }) => [kind, monthly])).to.deep.equal([
        ["renew", 100],
        ["expire", -10],
      ]);
      expect(await actions()).to.deep.equal([["credits.renew", [id], { period: "2026-11", monthly: 100 }]]);
    });

    it("once for each month", async () => {
      await credits.renew(id, { period: "2026-10" });
      await credits.grant(id, 3);
      expect(await credits.renew(id, { period: "2026-10" })).to.include({ monthly: 103, isRepeated: true });
      expect(await credits.renew(id, { period: "2026-11" })).to.include({ monthly: 100, isRepeated: false });
      expect(await actions()).to.have.length(3);
      expect(await refusal(credits.renew(id, { period: "2026-13" }))).not.to.equal("done");
    });

    it("once, also when the reply to the commit is lost: that counts as the first time", async () => {
      await open(true);
      expect(await credits.renew(id)).to.include({ monthly: 100, isRepeated: false });
      expect(await memory.storage.balanceOf(id)).to.include({ monthly: 100, ledgerSeq: 3 });
      expect(await actions()).to.have.length(1);
      expect(await credits.renew(id)).to.include({ isRepeated: true });
    });

    it("not where a grant has the reference", async () => {
      await credits.renew(id);
      memory.storage.sql("UPDATE fermata_ledger_entries SET kind = 'grant' WHERE kind = 'renew'");
      expect(await refusal(credits.renew(id))).to.include("was used for a grant.");
    });
  });

  describe("are verified", () => {
    it("as a whole at first and when asked for, and what is new otherwise", async () => {
      const first = await credits.verify();
      expect(first).to.deep.include({ isFull: true, fullAt: memory.clock.now(), violations: [] });
      expect(first).not.to.have.property("resume");
      await memory.clock.advance(5);
      expect(await credits.verify()).to.include({ isFull: false, fullAt: memory.clock.now() - 5 });
      expect(await credits.verify({ full: true })).to.include({ isFull: true, fullAt: memory.clock.now() });
    });

    it("as a whole again after something was found", async () => {
      await credits.verify();
      memory.storage.sql("UPDATE fermata_balances SET pack = 99");
      await credits.grant(id, 1);
      expect((await credits.verify()).violations).to.have.length(1);
      expect(await credits.verify()).to.include({ isFull: true });
      memory.storage.sql("UPDATE fermata_balances SET pack = 5");
      expect((await credits.verify()).violations).to.deep.equal([]);
      expect(await credits.verify()).to.include({ isFull: false });
    });

    it("in steps, to their end or until they are aborted", async () => {
      for (let accounts = 0; accounts < 1_001; accounts++) await memory.storage.addAccount({}, { pack: 1 });
      memory.storage.sql("UPDATE fermata_balances SET pack = 99");
      const { violations, ...check } = await credits.verifyInSteps(NEVER);
      expect(check.isComplete).to.equal(true);
      expect(check.checked).to.be.above(2_000);
      expect(violations).to.have.length(1_000);
      expect(await credits.verifyInSteps(AbortSignal.abort())).to.deep.equal({
        isComplete: false,
        checked: 0,
        violations: [],
      });
    });
  });
});
