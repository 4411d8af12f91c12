import { expect } from "chai";
import fc from "fast-check";
import {
  type Balance,
  type Buckets,
  emptyBalance,
  type LedgerEntry,
  type Movement,
  post,
} from "../../../../core/credits/balance.js";
import { grant } from "../../../../core/credits/grant.js";
import { renew } from "../../../../core/credits/renew.js";
import { postReservation, reserve } from "../../../../core/credits/reserve.js";
import { postSettlement } from "../../../../core/credits/settle.js";
import { InsufficientCreditsError } from "../../../../core/errors.js";
import type { JobId } from "../../../../core/ids.js";
import { aBalance, anId, NOON } from "../../../support/builders.js";

const AMOUNTS = ["monthly", "pack", "reservedMonthly", "reservedPack", "spent"] as const;

type Command =
  | { readonly kind: "grant"; readonly amount: number; readonly bucket: "monthly" | "pack" }
  | { readonly kind: "renew"; readonly allowance: number }
  | { readonly kind: "reserve"; readonly cost: number }
  | { readonly kind: "settle"; readonly which: number; readonly how: "charge" | "refund" };

const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    kind: fc.constant("grant" as const),
    amount: fc.integer({ min: 1, max: 50 }),
    bucket: fc.constantFrom("monthly", "pack"),
  }),
  fc.record({ kind: fc.constant("renew" as const), allowance: fc.nat({ max: 60 }) }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("reserve" as const), cost: fc.nat({ max: 40 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("settle" as const),
      which: fc.nat(),
      how: fc.constantFrom("charge", "refund"),
    }),
  },
);

/** An account with the whole of its ledger. */
class Book {
  readonly entries: LedgerEntry[] = [];
  readonly open: { readonly jobId: JobId; readonly reserved: Buckets }[] = [];
  balance: Balance = emptyBalance(anId("acct"));

  run(command: Command): void {
    switch (command.kind) {
      case "grant":
        return this.take(grant(this.balance, command.amount, command.bucket, null, NOON));
      case "renew":
        return this.take(renew(this.balance, command.allowance, `renewal ${this.entries.length}`, NOON));
      case "reserve":
        return this.reserve(command.cost);
      case "settle":
        return this.settle(command.which, command.how);
    }
  }

  private reserve(cost: number): void {
    try {
      const reserved = reserve(this.balance, cost);
      const jobId = anId("job");
      const { balance, entry } = postReservation(this.balance, jobId, reserved, NOON);
      this.open.push({ jobId, reserved });
      this.take({ after: balance, entries: [entry] });
    } catch (error) {
      expect(error).to.be.instanceOf(InsufficientCreditsError);
      expect(cost).to.be.above(this.balance.monthly + this.balance.pack);
    }
  }

  private settle(which: number, how: "charge" | "refund"): void {
    if (this.open.length === 0) return;
    const [job] = this.open.splice(which % this.open.length, 1);
    if (job === undefined) return;
    const { balance, entry } = postSettlement(this.balance, job.jobId, job.reserved, how, NOON);
    this.take({ after: balance, entries: [entry] });
  }

  private take(movement: Movement): void {
    this.entries.push(...movement.entries);
    this.balance = movement.after;
  }
}

function sumOf(entries: readonly LedgerEntry[], amount: (typeof AMOUNTS)[number]): number {
  return entries.reduce((sum, entry) => sum + entry[amount], 0);
}

describe("post", () => {
  it("numbers entries on from the newest and leaves the count of running jobs to its caller", () => {
    const before = aBalance({ ledgerSeq: 41, pack: 1, runningJobs: 3 });
    const { balance, entry } = post(before, { kind: "grant", pack: 2, createdAt: NOON });
    expect(entry.seq).to.equal(42);
    expect(balance).to.deep.equal({ ...before, ledgerSeq: 42, pack: 3 });
  });
});

describe("The ledger, after any sequence of events of an account,", () => {
  it("adds up to its balance at every step, is never negative, and neither makes nor loses a credit", () => {
    fc.assert(
      fc.property(fc.array(anyCommand, { maxLength: 40 }), (commands) => {
        const book = new Book();
        for (const command of commands) {
          book.run(command);
          const { balance, entries, open } = book;
          for (const amount of AMOUNTS) {
            expect(balance[amount], amount).to.equal(sumOf(entries, amount));
            expect(balance[amount], amount).to.be.at.least(0);
          }
          expect(entries.map(({ seq }) => seq)).to.deep.equal(entries.map((_, index) => index + 1));
          expect(balance.ledgerSeq).to.equal(entries.length);
          expect(balance.runningJobs).to.equal(open.length);

          const held = open.reduce((sum, { reserved }) => sum + reserved.monthly + reserved.pack, 0);
          expect(balance.reservedMonthly + balance.reservedPack).to.equal(held);
          const came = entries
            .filter(({ kind }) => kind === "grant" || kind === "renew" || kind === "expire")
            .reduce((sum, { monthly, pack }) => sum + monthly + pack, 0);
          expect(AMOUNTS.reduce((sum, amount) => sum + balance[amount], 0)).to.equal(came);
        }
      }),
    );
  });

  it("moves credits between columns without a change of their sum on reserve, charge and refund", () => {
    fc.assert(
      fc.property(fc.array(anyCommand, { maxLength: 30 }), (commands) => {
        const book = new Book();
        for (const command of commands) book.run(command);
        for (const entry of book.entries.filter(({ jobId }) => jobId !== null)) {
          expect(AMOUNTS.reduce((sum, amount) => sum + entry[amount], 0)).to.equal(0);
        }
      }),
    );
  });
});
