import { expect } from "chai";
import { checkPeriod, isKeptForRenewals, periodOf, renewalReference } from "../../../../core/credits/renewal-period.js";
import { OperationRefusedError } from "../../../../core/errors.js";
import { anId } from "../../../support/builders.js";

describe("A renewal's period", () => {
  it("is the month of a moment in UTC, wherever the machine stands", () => {
    expect(periodOf(Date.UTC(2026, 10, 1))).to.equal("2026-11");
    expect(periodOf(Date.UTC(2026, 10, 1) - 1)).to.equal("2026-10");
    expect(periodOf(Date.UTC(2027, 0, 31, 23, 59))).to.equal("2027-01");
  });

  it("is refused unless it is a month", () => {
    expect(checkPeriod("2026-11")).to.equal("2026-11");
    for (const wrong of ["", "2026", "2026-13", "2026-00", "2026-1", "26-11", "2026-11-01", "2026-11\n", " 2026-11"]) {
      expect(() => checkPeriod(wrong), wrong).to.throw(OperationRefusedError, "A period is a month, such as 2026-11");
    }
  });

  it("has a reference of its own for each account and month, that no grant may have and the ledger can hold", () => {
    const [one, other] = [anId("acct"), anId("acct")];
    const references = [
      renewalReference(one, "2026-11"),
      renewalReference(one, "2026-12"),
      renewalReference(other, "2026-11"),
    ];
    expect(new Set(references).size).to.equal(3);
    for (const reference of references) {
      expect(reference.length).to.be.at.most(200);
      expect(isKeptForRenewals(reference)).to.equal(true);
    }
    expect(isKeptForRenewals("order 17")).to.equal(false);
  });
});
