import { expect } from "chai";
import fc from "fast-check";
import { AssertionError } from "../../../../core/assert.js";
import { available } from "../../../../core/credits/balance.js";
import { postReservation, reserve } from "../../../../core/credits/reserve.js";
import { InsufficientCreditsError } from "../../../../core/errors.js";
import { aBalance, anId, NOON } from "../../../support/builders.js";

describe("reserve", () => {
  const cases = [
    { monthly: 10, pack: 5, cost: 0, takes: { monthly: 0, pack: 0 } },
    { monthly: 10, pack: 5, cost: 4, takes: { monthly: 4, pack: 0 } },
    { monthly: 10, pack: 5, cost: 10, takes: { monthly: 10, pack: 0 } },
    { monthly: 10, pack: 5, cost: 12, takes: { monthly: 10, pack: 2 } },
    { monthly: 10, pack: 5, cost: 15, takes: { monthly: 10, pack: 5 } },
    { monthly: 0, pack: 5, cost: 5, takes: { monthly: 0, pack: 5 } },
  ];
  for (const { monthly, pack, cost, takes } of cases) {
    it(`takes ${takes.monthly} monthly, ${takes.pack} pack credits for ${cost} out of ${monthly} and ${pack}`, () => {
      expect(reserve({ monthly, pack }, cost)).to.deep.equal(takes);
    });
  }

  it("refuses a cost above both buckets together, naming both figures", () => {
    const refused = expect(() => reserve({ monthly: 10, pack: 5 }, 16)).to.throw(InsufficientCreditsError);
    refused.with.deep.property("details", { required: 16, available: 15 });
  });

  for (const cost of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    it(`holds a cost of ${cost} for a bug`, () => {
      expect(() => reserve({ monthly: 2 ** 53 - 1, pack: 0 }, cost)).to.throw(AssertionError);
    });
  }

  it("takes exactly the cost, monthly credits first, and never more than there is", () => {
    const credits = fc.nat({ max: 1_000 });
    fc.assert(
      fc.property(credits, credits, credits, (monthly, pack, share) => {
        const cost = Math.min(share, monthly + pack);
        const taken = reserve({ monthly, pack }, cost);
        expect(available(taken)).to.equal(cost);
        expect(taken.monthly).to.be.within(0, monthly);
        expect(taken.pack).to.be.within(0, pack);
        expect(taken.pack === 0 || taken.monthly === monthly).to.equal(true);
      }),
    );
  });
});

describe("postReservation", () => {
  it("lowers what is available at once and counts the job as running", () => {
    const before = aBalance({ monthly: 10, pack: 5, runningJobs: 1, ledgerSeq: 7 });
    const jobId = anId("job");
    const { balance, entry } = postReservation(before, jobId, { monthly: 10, pack: 2 }, NOON);
    expect(balance).to.deep.equal({
      ...before,
      monthly: 0,
      pack: 3,
      reservedMonthly: 10,
      reservedPack: 2,
      runningJobs: 2,
      ledgerSeq: 8,
    });
    expect(entry).to.deep.equal({
      accountId: before.accountId,
      seq: 8,
      kind: "reserve",
      jobId,
      monthly: -10,
      pack: -2,
      reservedMonthly: 10,
      reservedPack: 2,
      spent: 0,
      reference: null,
      createdAt: NOON,
    });
  });

  it("writes plain zeros for a bucket that pays nothing", () => {
    const { entry } = postReservation(aBalance({ monthly: 5 }), anId("job"), { monthly: 5, pack: 0 }, NOON);
    expect(Object.is(entry.pack, 0)).to.equal(true);
  });
});
