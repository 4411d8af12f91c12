import { useSandbox } from "../../support/process.js";
import { aSeed } from "../../support/storm/dice.js";
import { surviveStorm } from "../../support/storm/one-server.js";

/** The long form of test/system/process/kill-storm.test.ts, run by `npm run test:faults`. */
describe("A server that is killed for minutes under load", function () {
  this.timeout(900_000);
  const sandbox = useSandbox();

  for (let storm = 1; storm <= 4; storm++) {
    it(`ends every accepted job once, answers every key with the same bytes, and keeps its books (storm ${storm})`, () =>
      surviveStorm(sandbox, { seed: aSeed(), kills: 12, wishesPerRound: 25, accounts: 5 }));
  }
});
