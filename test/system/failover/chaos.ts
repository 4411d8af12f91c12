import { surviveDatabaseChaos } from "../../support/chaos/database-chaos.js";
import { ReplicatedUnderChaos } from "../../support/chaos/replicated-chaos.js";
import { aSeed } from "../../support/chaos/seeded-random.js";
import { useSandbox } from "../../support/process.js";

describe("A primary that is killed or frozen under load, while its semi-synchronous replica is promoted", function () {
  this.timeout(1_800_000);
  const sandbox = useSandbox();

  it("loses no job, keeps the ledger exact, submits once, and takes writes within 10 s of the promotion", async () => {
    const chaos = { seed: aSeed(), faults: 8, demandsPerFault: 12 };
    const result = await surviveDatabaseChaos(sandbox, chaos, () => ReplicatedUnderChaos.open());
    process.stdout.write(`      ${JSON.stringify(result)}\n`);
  });
});
