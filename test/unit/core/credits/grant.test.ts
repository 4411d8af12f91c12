import { expect } from "chai";
import { CREDITS_MAX, grant } from "../../../../core/credits/grant.js";
import { OperationRefusedError } from "../../../../core/errors.js";
import { aBalance, NOON } from "../../../support/builders.js";

describe("grant", () => {
  it("adds to the named bucket alone, and keeps what it was for", () => {
    const before = aBalance({ monthly: 1, pack: 2, ledgerSeq: 3 });
    const { after, entries } = grant(before, 40, "pack", "order 17", NOON);
    expect(after).to.deep.equal({ ...before, pack: 42, ledgerSeq: 4 });
    expect(entries).to.have.length(1);
    expect(entries[0]).to.include({
      kind: "grant",
      seq: 4,
      monthly: 0,
      pack: 40,
      reference: "order 17",
      jobId: null,
      createdAt: NOON,
    });
  });

  for (const amount of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    it(`refuses ${amount} credits`, () => {
      expect(() => grant(aBalance(), amount, "monthly", null, NOON)).to.throw(OperationRefusedError, String(amount));
    });
  }

  it("fills a bucket to its top and not beyond", () => {
    const almost = aBalance({ monthly: CREDITS_MAX - 5, pack: CREDITS_MAX });
    expect(grant(almost, 5, "monthly", null, NOON).after.monthly).to.equal(CREDITS_MAX);
    expect(() => grant(almost, 6, "monthly", null, NOON)).to.throw(OperationRefusedError);
    expect(() => grant(almost, 1, "pack", null, NOON)).to.throw(OperationRefusedError);
  });
});
