import { expect } from "chai";
import { useSandbox } from "../../support/process.js";
import { aSeed } from "../../support/chaos/seeded-random.js";
import { surviveFleetChaos } from "../../support/chaos/fleet-chaos.js";

describe("Servers, workers and broker that are killed under load", function () {
  this.timeout(180_000);
  const sandbox = useSandbox();

  it("end each job once, replay the same bytes per key, keep the ledger exact, submit nothing twice", async () => {
    const result = await surviveFleetChaos(sandbox, {
      seed: aSeed(),
      faults: 10,
      demandsPerFault: 12,
      accounts: 3,
      withDatabase: false,
    });
    expect(result.submissions).to.be.above(0);
  });
});
