import { expect } from "chai";
import { renew } from "../../../../core/credits/renew.js";
import { aBalance, NOON } from "../../../support/builders.js";

describe("renew", () => {
  it("lets the rest of the month expire and adds the new allowance; packs and reservations stay", () => {
    const before = aBalance({ monthly: 7, pack: 30, reservedMonthly: 5, spent: 9, runningJobs: 1, ledgerSeq: 2 });
    const { after, entries } = renew(before, 100, "renew:a:2026-11", NOON);
    expect(after).to.deep.equal({ ...before, monthly: 100, ledgerSeq: 4 });
    expect(entries.map(({ kind, monthly, seq, reference }) => ({ kind, monthly, seq, reference }))).to.deep.equal([
      { kind: "expire", monthly: -7, seq: 3, reference: null },
      { kind: "renew", monthly: 100, seq: 4, reference: "renew:a:2026-11" },
    ]);
  });

  it("records the renewal also where it adds nothing, and expires only what is there", () => {
    const kinds = (monthly: number, allowance: number): unknown =>
      renew(aBalance({ monthly }), allowance, "renew:a:2026-11", NOON).entries.map((entry) => [
        entry.kind,
        entry.monthly,
      ]);
    expect(kinds(0, 100)).to.deep.equal([["renew", 100]]);
    expect(kinds(4, 0)).to.deep.equal([
      ["expire", -4],
      ["renew", 0],
    ]);
    expect(kinds(0, 0)).to.deep.equal([["renew", 0]]);
  });
});
