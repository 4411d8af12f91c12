import { expect } from "chai";
import { AssertionError } from "../../../../core/assert.js";
import { postSettlement } from "../../../../core/credits/settle.js";
import { aBalance, anId, NOON } from "../../../support/builders.js";

const RESERVED = { monthly: 10, pack: 2 };

describe("postSettlement", () => {
  const before = aBalance({
    monthly: 1,
    pack: 3,
    reservedMonthly: 15,
    reservedPack: 2,
    spent: 20,
    runningJobs: 2,
    ledgerSeq: 4,
  });

  it("turns a reservation into spent credits", () => {
    const jobId = anId("job");
    const { balance, entry } = postSettlement(before, jobId, RESERVED, "charge", NOON);
    expect(balance).to.deep.equal({
      ...before,
      reservedMonthly: 5,
      reservedPack: 0,
      spent: 32,
      runningJobs: 1,
      ledgerSeq: 5,
    });
    expect(entry).to.include({
      kind: "charge",
      jobId,
      seq: 5,
      monthly: 0,
      pack: 0,
      reservedMonthly: -10,
      reservedPack: -2,
      spent: 12,
    });
  });

  it("refunds into the buckets that the credits came from", () => {
    const { balance, entry } = postSettlement(before, anId("job"), RESERVED, "refund", NOON);
    expect(balance).to.deep.equal({
      ...before,
      monthly: 11,
      pack: 5,
      reservedMonthly: 5,
      reservedPack: 0,
      runningJobs: 1,
      ledgerSeq: 5,
    });
    expect(entry).to.include({
      kind: "refund",
      monthly: 10,
      pack: 2,
      reservedMonthly: -10,
      reservedPack: -2,
      spent: 0,
    });
  });

  it("writes plain zeros for a job that cost nothing", () => {
    const { entry } = postSettlement(
      aBalance({ runningJobs: 1 }),
      anId("job"),
      { monthly: 0, pack: 0 },
      "charge",
      NOON,
    );
    expect([entry.reservedMonthly, entry.reservedPack].every((amount) => Object.is(amount, 0))).to.equal(true);
  });

  it("holds for a bug what was never reserved", () => {
    for (const reserved of [
      { reservedMonthly: 9, reservedPack: 2 },
      { reservedMonthly: 10, reservedPack: 1 },
    ]) {
      const unreserved = aBalance({ monthly: 50, pack: 50, runningJobs: 1, ...reserved });
      expect(() => postSettlement(unreserved, anId("job"), RESERVED, "refund", NOON)).to.throw(AssertionError);
    }
  });

  it("holds for a bug a job that was never counted as running", () => {
    const uncounted = aBalance({ reservedMonthly: 10, reservedPack: 2, runningJobs: 0 });
    expect(() => postSettlement(uncounted, anId("job"), RESERVED, "charge", NOON)).to.throw(AssertionError);
  });
});
