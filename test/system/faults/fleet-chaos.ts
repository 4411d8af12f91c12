import { useSandbox } from "../../support/process.js";
import { aSeed } from "../../support/chaos/seeded-random.js";
import { surviveFleetChaos } from "../../support/chaos/fleet-chaos.js";

/**
 * The long form of test/system/fleet/chaos.test.ts, with a database that is killed too, run by `npm run test:faults`.
 */
describe("Servers, workers, broker and database that are killed repeatedly under load", function () {
  this.timeout(900_000);
  const sandbox = useSandbox();

  for (let chaos = 1; chaos <= 4; chaos++) {
    it(`end each job once, replay each key's bytes, keep the ledger exact, submit once (${chaos})`, async () => {
      const result = await surviveFleetChaos(sandbox, {
        seed: aSeed(),
        faults: 60,
        demandsPerFault: 12,
        accounts: 5,
        withDatabase: true,
      });
      process.stdout.write(`      ${JSON.stringify(result)}\n`);
    });
  }
});
