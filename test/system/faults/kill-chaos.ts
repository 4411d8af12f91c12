import { useSandbox } from "../../support/process.js";
import { aSeed } from "../../support/chaos/seeded-random.js";
import { surviveChaos } from "../../support/chaos/one-server.js";

/** The long form of test/system/process/chaos.test.ts, run by `npm run test:faults`. */
describe("A server that is killed for minutes under load", function () {
  this.timeout(900_000);
  const sandbox = useSandbox();

  for (let chaos = 1; chaos <= 4; chaos++) {
    it(`ends every accepted job once, answers every key with the same bytes, and keeps its books (storm ${chaos})`, () =>
      surviveChaos(sandbox, { seed: aSeed(), kills: 12, demandsPerRound: 25, accounts: 5 }));
  }
});
