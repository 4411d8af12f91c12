import { aSeed } from "../../support/chaos/seeded-random.js";
import { LONG } from "../../support/nemesis/forms.js";
import { surviveNemesis } from "../../support/nemesis/run.js";
import { useSandbox } from "../../support/process.js";

const SECONDS = Number(process.env["FERMATA_TEST_NEMESIS_SECONDS"] ?? 600);

/** The long form of test/system/nemesis, run by `npm run test:faults`, and alone by `npm run test:nemesis`. */
describe(`Servers, workers, database, broker, vendor and receivers that fail for ${SECONDS} s under load`, function () {
  this.timeout((SECONDS + 900) * 1_000);
  const sandbox = useSandbox();

  it("lose no job, charge and buy nothing twice, waste nothing, and deliver every event", async () => {
    const result = await surviveNemesis(sandbox, { ...LONG, seed: aSeed(), faultsMs: SECONDS * 1_000 });
    process.stdout.write(`      ${JSON.stringify(result, null, 2).replaceAll("\n", "\n      ")}\n`);
  });
});
