import { expect } from "chai";
import { aSeed } from "../../support/chaos/seeded-random.js";
import { SHORT } from "../../support/nemesis/forms.js";
import { surviveNemesis } from "../../support/nemesis/run.js";
import { useSandbox } from "../../support/process.js";

const FAULTS_MS = 10_000;

/** The short form of test/system/faults/nemesis.ts. */
describe("Servers, workers, database, broker, vendor and receivers that fail under load", function () {
  this.timeout(300_000);
  const sandbox = useSandbox();

  it("lose no job, charge and buy nothing twice, waste nothing, and deliver every event", async () => {
    const result = await surviveNemesis(sandbox, { ...SHORT, seed: aSeed(), faultsMs: FAULTS_MS });
    process.stdout.write(`      ${JSON.stringify(result)}\n`);
    expect(result.delivered).to.be.above(0);
  });
});
