import { expect } from "chai";
import { useSandbox } from "../../support/process.js";
import { aSeed } from "../../support/chaos/seeded-random.js";
import { surviveFleetChaos } from "../../support/chaos/fleet-chaos.js";

describe("Servers and workers that are killed under load, and their broker with them", function () {
  this.timeout(180_000);
  const sandbox = useSandbox();

  it("end every accepted job once, answer every key with the same bytes, keep their books, and submit no job twice", async () => {
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
