import { useSandbox } from "../../support/process.js";
import { aSeed } from "../../support/chaos/seeded-random.js";
import { surviveChaos } from "../../support/chaos/one-server.js";

/** The long form of test/system/process/chaos.test.ts, run by `npm run test:faults`. */
describe("A server that is killed repeatedly for minutes under load", function () {
  this.timeout(900_000);
  const sandbox = useSandbox();

  for (let chaos = 1; chaos <= 4; chaos++) {
    it(`ends each job once, replays the same bytes per key, and keeps the ledger exact (run ${chaos})`, () =>
      surviveChaos(sandbox, { seed: aSeed(), kills: 12, demandsPerRound: 25, accounts: 5 }));
  }
});
