import { expect } from "chai";
import { isScope, SCOPES } from "../../../../core/ports/scopes.js";
import { type Tier, Tiers } from "../../../../core/accounts/tiers.js";
import { AssertionError } from "../../../../core/assert.js";
import { NO_UPLOADS } from "../../../support/builders.js";

function aTier(name: string): Tier {
  const rateLimit = { perMinute: 1, perDay: 1 };
  const rateLimits = { read: rateLimit, generation: rateLimit, write: rateLimit };
  return { name, maxConcurrent: 1, monthlyCredits: 0, rateLimits, uploads: NO_UPLOADS };
}

describe("Tiers", () => {
  const tiers = new Tiers([aTier("free"), aTier("pro")]);

  it("are found by name, in the order of config", () => {
    expect(tiers.names).to.deep.equal(["free", "pro"]);
    expect([tiers.has("pro"), tiers.has("gold"), tiers.has("toString")]).to.deep.equal([true, false, false]);
    expect(tiers.of("pro").name).to.equal("pro");
  });

  it("give an account whose tier is gone the first one", () => {
    expect(tiers.of("gold").name).to.equal("free");
  });

  it("are at least one", () => {
    expect(() => new Tiers([])).to.throw(AssertionError);
  });
});

describe("isScope", () => {
  it("knows the six scopes and nothing else", () => {
    expect(SCOPES).to.have.length(6);
    expect(SCOPES.every(isScope)).to.equal(true);
    expect(["", "models", "models:write", "MODELS:READ", "length"].some(isScope)).to.equal(false);
  });
});
