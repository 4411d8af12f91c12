import { expect } from "chai";
import { renew } from "../../../../core/credits/renew.js";
import { aBalance, NOON } from "../../../support/builders.js";

describe("renew", () => {
  it("lets the rest of the month expire and adds the new allowance; packs and reservations stay", () => {
    const before = aBalance({ monthly: 7, pack: 30, reservedMonthly: 5, spent: 9, runningJobs: 1, ledgerSeq: 2 });
    const { after, entries } = renew(before, 100, NOON);
    expect(after).to.deep.equal({ ...before, monthly: 100, ledgerSeq: 4 });
    expect(entries.map(({ kind, monthly, seq }) => ({ kind, monthly, seq }))).to.deep.equal([
      { kind: "expire", monthly: -7, seq: 3 },
      { kind: "renew", monthly: 100, seq: 4 },
    ]);
  });

  it("writes no entry for nothing: an empty month, a tier without an allowance", () => {
    expect(renew(aBalance({ monthly: 0 }), 100, NOON).entries.map(({ kind }) => kind)).to.deep.equal(["renew"]);
    expect(renew(aBalance({ monthly: 4 }), 0, NOON).entries.map(({ kind }) => kind)).to.deep.equal(["expire"]);
    const untouched = aBalance();
    expect(renew(untouched, 0, NOON)).to.deep.equal({ after: untouched, entries: [] });
  });
});
