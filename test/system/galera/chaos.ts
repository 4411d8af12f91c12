import { surviveDatabaseChaos } from "../../support/chaos/database-chaos.js";
import { openGaleraUnderChaos } from "../../support/chaos/galera-chaos.js";
import { aSeed } from "../../support/chaos/seeded-random.js";
import { useSandbox } from "../../support/process.js";

describe("Nodes of a Galera cluster that are killed, frozen and rejoin under load", function () {
  this.timeout(1_800_000);
  const sandbox = useSandbox();

  it("lose no job, keep the ledger exact, submit once, and take writes again within 10 s", async () => {
    const chaos = { seed: aSeed(), faults: 8, demandsPerFault: 12 };
    const result = await surviveDatabaseChaos(sandbox, chaos, openGaleraUnderChaos);
    process.stdout.write(`      ${JSON.stringify(result)}\n`);
  });
});
