import { useSandbox } from "../../support/process.js";
import { aSeed } from "../../support/chaos/seeded-random.js";
import { surviveChaos } from "../../support/chaos/one-server.js";

describe("A server that is killed again and again under load", function () {
  this.timeout(120_000);
  const sandbox = useSandbox();

  it("ends every accepted job once, answers every key with the same bytes, and keeps its books", () =>
    surviveChaos(sandbox, { seed: aSeed(), kills: 3, demandsPerRound: 9, accounts: 3 }));
});
