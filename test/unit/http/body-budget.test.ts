import { expect } from "chai";
import { BodyBudget } from "../../../adapters/http/connections/body-budget.js";
import { RateLimitedError, ServiceUnavailableError } from "../../../core/errors.js";

const MIB = 1024 * 1024;

describe("BodyBudget", () => {
  it("lets the unfinished bodies of one network hold 8 MiB, and others as much", () => {
    const budget = new BodyBudget(MIB);
    for (let body = 0; body < 8; body++) budget.open("192.0.2.1").grow(MIB);
    expect(() => budget.open("192.0.2.1").grow(1)).to.throw(RateLimitedError);
    budget.open("192.0.2.2").grow(MIB);
    expect(budget.heldBytes).to.equal(9 * MIB);
  });

  it("has all of a body back when it is released, also when it was refused half-way", () => {
    const budget = new BodyBudget(MIB);
    const share = budget.open("192.0.2.1");
    share.grow(7 * MIB);
    expect(() => share.grow(2 * MIB)).to.throw(RateLimitedError);
    share.release();
    share.release();
    expect(budget.heldBytes).to.equal(0);
    budget.open("192.0.2.1").grow(8 * MIB);
  });

  it("lets eight such networks hold what they may, and none beyond", () => {
    const budget = new BodyBudget(MIB);
    for (let network = 1; network <= 8; network++) budget.open(`192.0.2.${network}`).grow(8 * MIB);
    expect(() => budget.open("192.0.2.9").grow(1)).to.throw(ServiceUnavailableError);
  });

  it("always has room for a few of the largest bodies", () => {
    new BodyBudget(16 * MIB).open("192.0.2.1").grow(64 * MIB);
  });
});
