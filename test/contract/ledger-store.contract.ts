import { expect } from "chai";
import { type Balance, emptyBalance } from "../../core/credits/balance.js";
import { CREDITS_MAX, grant } from "../../core/credits/grant.js";
import { renew } from "../../core/credits/renew.js";
import { reserve } from "../../core/credits/reserve.js";
import { InsufficientCreditsError } from "../../core/errors.js";
import type { AccountId } from "../../core/ids.js";
import type { ArchivableEntries } from "../../core/ports/ledger-archives.js";
import type { LedgerPage, LedgerViolation } from "../../core/ports/ledger-store.js";
import { aBalance, aJob, aMovement, anAccount, anId, aReservation, aSettlement, NOON } from "../support/builders.js";
import type { StorageWith } from "../support/storage-under-test.js";

type Storage = StorageWith<"accounts" | "addAccount" | "apply" | "balanceOf" | "jobs" | "ledger">;

/**
 * The promises of every `LedgerStore`.
 *
 * @param open opens a storage without rows, once for the suite; {@link storageUnderTest} creates it
 */
export function ledgerStoreContract(name: string, open: () => Promise<Storage>): void {
  describe(`LedgerStore contract: ${name}`, () => {
    let storage: Storage;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    /** An account without a single entry. */
    async function addBareAccount(): Promise<Balance> {
      const account = anAccount();
      await storage.inTransaction((tx) => storage.accounts.insertAccounts(tx, [account]));
      return emptyBalance(account.id);
    }

    describe("balances", () => {
      it("reads balances by account and omits unknown ones", async () => {
        const [first, second] = [await addBareAccount(), await addBareAccount()];
        const found = await storage.ledger.findBalances([second.accountId, anId("acct"), first.accountId]);
        expect(found.size).to.equal(2);
        expect(found.get(first.accountId)).to.deep.equal(first);
        expect(found.get(second.accountId)).to.deep.equal(second);
      });

      it("locks balances in ascending order of id, each once, omitting unknown ones", async () => {
        const ids = [await addBareAccount(), await addBareAccount(), await addBareAccount()].map(
          (balance) => balance.accountId,
        );
        const asked = [...ids].reverse().concat(ids, anId("acct"));
        const locked = await storage.inTransaction((tx) => storage.ledger.lockBalances(tx, asked));
        expect([...locked.keys()]).to.deep.equal([...ids].sort());
      });

      it("locks without waiting in the same order, with none busy where no other transaction writes", async () => {
        const ids = [await addBareAccount(), await addBareAccount()].map((balance) => balance.accountId);
        const asked = [...ids].reverse().concat(ids, anId("acct"));
        const { locked, busy } = await storage.inTransaction((tx) => storage.ledger.tryLockBalances(tx, asked));
        expect([...locked.keys()]).to.deep.equal([...ids].sort());
        expect(locked).to.deep.equal(await storage.ledger.findBalances([...ids].sort()));
        expect([...busy]).to.deep.equal([]);
      });

      it("accepts empty lists", async () => {
        const locked = await storage.inTransaction(async (tx) => {
          await storage.ledger.apply(tx, []);
          return storage.ledger.lockBalances(tx, []);
        });
        expect(locked.size).to.equal(0);
        expect((await storage.ledger.findBalances([])).size).to.equal(0);
      });

      it("stores whole credits exactly up to a bucket's maximum", async () => {
        const before = await addBareAccount();
        await storage.apply(grant(before, CREDITS_MAX, "pack", null, NOON));
        expect(await storage.balanceOf(before.accountId)).to.include({ pack: CREDITS_MAX });
      });
    });

    describe("movements", () => {
      it("writes entries together with the resulting balance", async () => {
        const before = await addBareAccount();
        const movement = aMovement(before, { monthly: 7, pack: 3, reference: `order ${anId("req")}` });
        await storage.apply(movement);
        expect(await storage.balanceOf(before.accountId)).to.deep.equal(movement.after);
        expect(await storage.ledger.listEntries(before.accountId, 10)).to.deep.equal(movement.entries);
      });

      it("writes several entries of one account in one movement", async () => {
        const account = await storage.addAccount({}, { monthly: 4 });
        const movement = renew(await storage.balanceOf(account.id), 100, `renew:${account.id}:2026-11`, NOON);
        await storage.apply(movement);
        expect(await storage.balanceOf(account.id)).to.include({ monthly: 100, ledgerSeq: 3 });
        const entries = await storage.ledger.listEntries(account.id, 2);
        expect(entries.map((entry) => entry.kind)).to.deep.equal(["renew", "expire"]);
        const earlier = await storage.ledger.listEntries(account.id, 2, 3);
        expect(earlier.map((entry) => entry.seq)).to.deep.equal([2, 1]);
      });

      it("accepts a movement without entries", async () => {
        const before = await addBareAccount();
        await storage.apply({ after: before, entries: [] });
        expect(await storage.balanceOf(before.accountId)).to.deep.equal(before);
      });

      it("writes movements of many accounts at once", async () => {
        const balances = await storage.inTransaction(async (tx) => {
          const accounts = Array.from({ length: 300 }, () => anAccount());
          await storage.accounts.insertAccounts(tx, accounts);
          return accounts.map((account) => emptyBalance(account.id));
        });
        await storage.apply(...balances.map((balance, index) => aMovement(balance, { pack: index + 1 })));
        const found = await storage.ledger.findBalances(balances.map((balance) => balance.accountId));
        expect([...found.values()].map((balance) => balance.pack)).to.deep.equal(balances.map((_, index) => index + 1));
      });

      it("refuses a movement from an outdated balance, and writes none of its batch", async () => {
        const [stale, other] = [await addBareAccount(), await addBareAccount()];
        await storage.apply(aMovement(stale, { pack: 1 }));
        const outcome = storage.apply(aMovement(other, { pack: 1 }), aMovement(stale, { pack: 9 }));
        expect(await outcome.catch((error: unknown) => error)).to.be.instanceOf(Error);
        expect(await storage.balanceOf(stale.accountId)).to.include({ pack: 1, ledgerSeq: 1 });
        expect(await storage.balanceOf(other.accountId)).to.deep.equal(other);
      });

      for (const column of ["monthly", "pack", "reservedMonthly", "reservedPack", "spent"] as const) {
        it(`refuses a balance whose ${column} is negative`, async () => {
          const before = await addBareAccount();
          const outcome = storage.apply(aMovement(before, { [column]: -1 }));
          expect(await outcome.catch((error: unknown) => error)).to.be.instanceOf(Error);
          expect(await storage.balanceOf(before.accountId)).to.deep.equal(before);
        });
      }

      it("refuses a second grant with the same reference, on whichever account", async () => {
        const reference = `order ${anId("req")}`;
        const [first, second] = [await addBareAccount(), await addBareAccount()];
        await storage.apply(aMovement(first, { pack: 1, reference }));
        const outcome = storage.apply(aMovement(second, { pack: 1, reference }));
        expect(await outcome.catch((error: unknown) => error)).to.be.instanceOf(Error);
        expect(await storage.balanceOf(second.accountId)).to.deep.equal(second);
      });

      it("reserves a job once and settles it once", async () => {
        const account = await storage.addAccount({}, { monthly: 50 });
        const job = aJob({ accountId: account.id });
        await storage.apply(aReservation(await storage.balanceOf(account.id), job));
        const again = storage.apply(aReservation(await storage.balanceOf(account.id), job));
        expect(await again.catch((error: unknown) => error)).to.be.instanceOf(Error);

        await storage.apply(aReservation(await storage.balanceOf(account.id), aJob({ accountId: account.id })));
        await storage.apply(aSettlement(await storage.balanceOf(account.id), job, "charge"));
        const refund = aSettlement(await storage.balanceOf(account.id), job, "refund");
        expect(await storage.apply(refund).catch((error: unknown) => error)).to.be.instanceOf(Error);
        expect(await storage.balanceOf(account.id)).to.include({
          monthly: 40,
          reservedMonthly: 5,
          spent: 5,
          runningJobs: 1,
        });
      });
    });

    describe("races", () => {
      it("never lets two reservations spend the same credit", async () => {
        const account = await storage.addAccount({}, { monthly: 12, pack: 10 });
        const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => reserveFive(account.id)));
        const refused = outcomes.filter((outcome) => outcome.status === "rejected");
        expect(refused).to.have.length(6);
        for (const { reason } of refused) expect(reason).to.be.instanceOf(InsufficientCreditsError);
        const after = { monthly: 0, pack: 2, reservedMonthly: 12, reservedPack: 8, runningJobs: 4, ledgerSeq: 5 };
        expect(await storage.balanceOf(account.id)).to.include(after);
      });

      function reserveFive(accountId: AccountId): Promise<void> {
        const id = anId("job");
        return storage.inTransaction(async (tx) => {
          const balance = (await storage.ledger.lockBalances(tx, [accountId])).get(accountId) as Balance;
          const job = aJob({ id, accountId, reserved: reserve(balance, 5) });
          await storage.ledger.apply(tx, [aReservation(balance, job)]);
        });
      }

      it("shows the first transaction's result to the second", async () => {
        const { accountId } = await addBareAccount();
        const seen: number[] = [];
        const addOne = (): Promise<void> =>
          storage.inTransaction(async (tx) => {
            const balance = (await storage.ledger.lockBalances(tx, [accountId])).get(accountId) as Balance;
            await storage.ledger.apply(tx, [aMovement(balance, { pack: 1 })]);
            seen.push(balance.pack);
          });
        await Promise.all([addOne(), addOne(), addOne()]);
        expect(seen).to.deep.equal([0, 1, 2]);
      });
    });

    describe("entries", () => {
      it("finds an entry by its reference, inside the transaction that wrote it", async () => {
        const reference = `order ${anId("req")} Ü 🎻`;
        const movement = aMovement(await addBareAccount(), { pack: 1, reference });
        const [before, after] = await storage.inTransaction(async (tx) => {
          const missing = await storage.ledger.findByReference(tx, reference);
          await storage.ledger.apply(tx, [movement]);
          return [missing, await storage.ledger.findByReference(tx, reference)];
        });
        expect(before).to.equal(null);
        expect(after).to.deep.equal(movement.entries[0]);
      });

      it("compares references byte by byte", async () => {
        const reference = `order ${anId("req")}`;
        await storage.apply(aMovement(await addBareAccount(), { pack: 1, reference }));
        const find = (text: string) => storage.inTransaction((tx) => storage.ledger.findByReference(tx, text));
        expect(await find(reference.toUpperCase())).to.equal(null);
        expect(await find(`${reference} `)).to.equal(null);
      });

      it("lists a job's entries in the order of their numbers", async () => {
        const account = await storage.addAccount({}, { monthly: 50 });
        const job = aJob({ accountId: account.id });
        const reservation = aReservation(await storage.balanceOf(account.id), job);
        const settlement = aSettlement(reservation.after, job, "refund");
        await storage.apply(reservation);
        await storage.apply(settlement);
        expect(await storage.ledger.entriesOfJob(job.id)).to.deep.equal([
          ...reservation.entries,
          ...settlement.entries,
        ]);
        expect(await storage.ledger.entriesOfJob(anId("job"))).to.deep.equal([]);
      });

      it("lists an account's newest entries first, up to the limit", async () => {
        const before = await addBareAccount();
        const first = aMovement(before, { pack: 1 });
        const second = aMovement(first.after, { pack: 2 });
        const third = aMovement(second.after, { pack: 3 });
        for (const movement of [first, second, third]) await storage.apply(movement);
        const entries = await storage.ledger.listEntries(before.accountId, 2);
        expect(entries.map((entry) => entry.seq)).to.deep.equal([3, 2]);
        expect(await storage.ledger.listEntries(anId("acct"), 2)).to.deep.equal([]);
      });
    });

    describe("archives", () => {
      it("takes verified entries out, lists their sum last, and takes them back row for row", async () => {
        const account = await storage.addAccount({}, { monthly: 50 });
        const job = aJob({ accountId: account.id });
        await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [job]));
        await storage.apply(aReservation(await storage.balanceOf(account.id), job));
        await storage.apply(aSettlement(await storage.balanceOf(account.id), job, "refund"));
        const reference = `order ${anId("req")}`;
        await storage.apply(aMovement(await storage.balanceOf(account.id), { pack: 1, reference }));
        const entries = await storage.ledger.listEntries(account.id, 10);
        const [, ...archivable] = entries;
        const fold = () => storage.inTransaction((tx) => storage.ledger.fold(tx, account.id, archivable, NOON));
        expect([await fold(), await fold()]).to.deep.equal([3, 0]);
        const listed = await storage.ledger.listEntries(account.id, 10);
        expect(listed.map(({ seq, kind, monthly }) => [seq, kind, monthly])).to.deep.equal([
          [4, "grant", 0],
          [0, "opening", 50],
        ]);
        expect(await storage.inTransaction((tx) => storage.ledger.findByReference(tx, reference))).to.not.equal(null);
        const opening = (await storage.ledger.listOpenings("", 1_000)).find((one) => one.accountId === account.id);
        expect(opening).to.include({ entries: 3, lastSeq: 3, monthly: 50, pack: 0, spent: 0 });
        expect(opening?.checksum).to.equal(storage.ledger.checksumOf([...archivable].reverse()));
        const changed = archivable.map((entry) => ({ ...entry, createdAt: 1 }));
        const unfold = (of: typeof archivable) =>
          storage.inTransaction((tx) => storage.ledger.unfold(tx, account.id, of));
        expect([await unfold(archivable), await unfold(archivable)]).to.deep.equal([3, 0]);
        expect(await storage.ledger.listEntries(account.id, 10)).to.deep.equal(entries);
        const refused = storage.inTransaction((tx) => storage.ledger.fold(tx, account.id, changed, NOON));
        expect(await refused.catch((error: unknown) => error)).to.be.instanceOf(Error);
        expect(await storage.ledger.listEntries(account.id, 10)).to.deep.equal(entries);
      });

      it("finds what is verified, and not younger than asked", async () => {
        const account = await storage.addAccount({}, { monthly: 50 });
        await storage.apply(aMovement(await storage.balanceOf(account.id), { pack: 1, createdAt: NOON + 1 }));
        const found = async (): Promise<number[]> => {
          const numbers: number[] = [];
          for (let cursor: string | null = null; ;) {
            const page: ArchivableEntries = await storage.ledger.archivable(cursor, NOON + 1, 2);
            numbers.push(...page.entries.filter((one) => one.accountId === account.id).map(({ seq }) => seq));
            cursor = page.next;
            if (cursor === null) return numbers;
          }
        };
        expect(await found()).to.deep.equal([]);
        await storage.ledger.audit((await storage.ledger.audit()).resume);
        expect(await found()).to.deep.equal([1]);
      });

      it("records archives", async () => {
        const archive = { number: 1, file: "ledger-000001.jsonl", sha256: "0".repeat(64), entries: 3, createdAt: NOON };
        for (const state of ["archived", "restored"] as const) {
          await storage.inTransaction((tx) => storage.ledger.writeArchive(tx, { ...archive, state }));
          expect(await storage.ledger.listArchives()).to.deep.equal([{ ...archive, state }]);
        }
      });
    });

    describe("audit", () => {
      it("counts what it checked and finds no violation", async () => {
        const before = await storage.ledger.audit();
        const account = await storage.addAccount({}, { pack: 10 });
        const job = aJob({ accountId: account.id, reserved: { monthly: 0, pack: 5 } });
        await storage.inTransaction(async (tx) => {
          await storage.jobs.insertJobs(tx, [job]);
          await storage.ledger.apply(tx, [
            aReservation(aBalance({ accountId: account.id, pack: 10, ledgerSeq: 1 }), job),
          ]);
        });
        const after = await storage.ledger.audit();
        expect(after.checked).to.deep.equal({
          accounts: before.checked.accounts + 1,
          entries: before.checked.entries + 2,
          jobs: before.checked.jobs + 1,
        });
        expect(after.violations.filter((violation) => violation.subject.includes(account.id))).to.deep.equal([]);
      });

      it("goes in pages through everything, and finds what the audit finds", async () => {
        const account = await storage.addAccount({}, { pack: 10 });
        const jobs = [1, 2, 3].map((pack) => aJob({ accountId: account.id, reserved: { monthly: 0, pack } }));
        const unpaid = aJob({ accountId: account.id, reserved: { monthly: 1, pack: 0 } });
        await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [...jobs, unpaid]));
        for (const job of jobs) await storage.apply(aReservation(await storage.balanceOf(account.id), job));
        const ours = [account.id, unpaid.id] as readonly string[];
        const whole = (await storage.ledger.audit()).violations.filter(({ subject }) => ours.includes(subject));
        const paged: LedgerViolation[] = [];
        let checked = 0;
        let cursor: string | null = null;
        do {
          const page: LedgerPage = await storage.ledger.auditPage(cursor, 2);
          expect(page.checked).to.be.at.most(2);
          checked += page.checked;
          paged.push(...page.violations.filter(({ subject }) => ours.includes(subject)));
          cursor = page.next;
        } while (cursor !== null);
        expect(paged).to.have.deep.members(whole).and.have.length.above(2);
        const all = (await storage.ledger.audit()).checked;
        expect(checked).to.be.at.least(all.accounts + all.entries + all.jobs);
      });

      it("goes on from where an earlier audit ended, with what is new", async () => {
        const [one, other] = [await storage.addAccount({}, { pack: 10 }), await storage.addAccount({}, { pack: 3 })];
        const full = await storage.ledger.audit();
        const settled = await storage.ledger.audit(full.resume);
        // What the other tests have left broken is gone through each time.
        const before = await storage.ledger.audit(settled.resume);
        expect(before.checked.accounts).to.equal(full.checked.accounts);
        const job = aJob({ accountId: one.id, reserved: { monthly: 0, pack: 4 } });
        await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [job]));
        await storage.apply(aReservation(await storage.balanceOf(one.id), job));
        await storage.apply(aMovement(await storage.balanceOf(other.id), { pack: 1 }));
        const next = await storage.ledger.audit(before.resume);
        expect(next.checked.entries).to.equal(before.checked.entries + 2);
        expect(next.checked.jobs).to.be.at.least(1);
        const ours: readonly string[] = [one.id, other.id];
        expect(next.violations.filter(({ subject }) => ours.includes(subject))).to.deep.equal([]);
        expect((await storage.ledger.audit(next.resume)).checked.entries).to.equal(before.checked.entries);
      });

      it("goes on in pages too, and finds a new job without a reservation", async () => {
        const { resume } = await storage.ledger.audit();
        const account = await storage.addAccount({}, { pack: 10 });
        for (let grants = 0; grants < 4; grants++)
          await storage.apply(aMovement(await storage.balanceOf(account.id), { pack: 1 }));
        const unpaid = aJob({ accountId: account.id, reserved: { monthly: 1, pack: 0 } });
        await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [unpaid]));
        const found: string[] = [];
        for (let cursor: string = resume; ;) {
          const page: LedgerPage = await storage.ledger.auditPage(cursor, 2);
          expect(page.checked).to.be.at.most(2);
          found.push(...page.violations.filter(({ subject }) => subject === unpaid.id).map((one) => one.invariant));
          expect(page.resume === null, "there is a place to go on only at the end").to.equal(page.next !== null);
          if (page.next === null) break;
          cursor = page.next;
        }
        expect(found).to.include("job-has-its-reservation");
      });

      it("reads one snapshot, and blocks no writer", async () => {
        const account = await storage.addAccount({}, { pack: 1_000 });
        const auditing = storage.ledger.audit();
        for (let count = 0; count < 10; count++)
          await storage.apply(aMovement(await storage.balanceOf(account.id), { pack: 1 }));
        const { violations } = await auditing;
        expect(violations.filter((violation) => violation.subject === account.id)).to.deep.equal([]);
      });
    });
  });
}
