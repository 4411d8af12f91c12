import { expect } from "chai";
import { useSandbox } from "../../support/process.js";
import { aSeed } from "../../support/chaos/seeded-random.js";
import { surviveFleetChaos } from "../../support/chaos/fleet-chaos.js";

describe("Servers, workers and broker that are killed under load", function () {
  this.timeout(180_000);
  const sandbox = useSandbox();

  it("end every accepted job once, replay the same bytes for every key, keep the ledger exact, and submit no job twice", async () => {
    const toll = await surviveFleetChaos(sandbox, {
      seed: aSeed(),
      strikes: 14,
      demandsPerStrike: 12,
      accounts: 3,
      withDatabase: false,
    });
    expect(toll.submissions).to.be.above(0);
  });
});
