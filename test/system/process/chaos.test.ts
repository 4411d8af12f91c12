import { useSandbox } from "../../support/process.js";
import { aSeed } from "../../support/chaos/seeded-random.js";
import { surviveChaos } from "../../support/chaos/one-server.js";

describe("A server that is killed repeatedly under load", function () {
  this.timeout(180_000);
  const sandbox = useSandbox();

  it("ends each job once, replays the same bytes per key, and keeps the ledger exact", () =>
    surviveChaos(sandbox, { seed: aSeed(), kills: 3, demandsPerRound: 9, accounts: 3 }));
});
