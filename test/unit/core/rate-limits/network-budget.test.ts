import { expect } from "chai";
import { RateLimitedError } from "../../../../core/errors.js";
import { NetworkBudget } from "../../../../core/rate-limits/network-budget.js";

describe("NetworkBudget", () => {
  it("admits as many requests of one network at once as it may have, and one more when one ends", () => {
    const budget = new NetworkBudget(2);
    const end = budget.enter("192.0.2.1");
    budget.enter("192.0.2.1");
    expect(() => budget.enter("192.0.2.1")).to.throw(RateLimitedError, "More than 2 requests at once");
    end();
    budget.enter("192.0.2.1");
    expect(() => budget.enter("192.0.2.1")).to.throw(RateLimitedError);
  });

  it("counts a release once, however often it is called", () => {
    const budget = new NetworkBudget(1);
    const end = budget.enter("192.0.2.1");
    end();
    end();
    budget.enter("192.0.2.1");
    expect(() => budget.enter("192.0.2.1")).to.throw(RateLimitedError);
  });

  it("takes the addresses of an IPv6 /64 as one network, and others each by themselves", () => {
    const budget = new NetworkBudget(1);
    budget.enter("2001:db8::1");
    expect(() => budget.enter("2001:db8::2")).to.throw(RateLimitedError);
    budget.enter("2001:db8:0:1::1");
    budget.enter("192.0.2.1");
    budget.enter("192.0.2.2");
    budget.enter(undefined);
    expect(() => budget.enter(undefined)).to.throw(RateLimitedError);
  });

  it("says how long to wait", () => {
    const budget = new NetworkBudget(1);
    budget.enter("192.0.2.1");
    const details = { limit: 1, window_seconds: 0, retry_after_seconds: 5 };
    expect(() => budget.enter("192.0.2.1"))
      .to.throw(RateLimitedError)
      .with.deep.property("details", details);
  });
});
