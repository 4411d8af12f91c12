import { expect } from "chai";
import fc from "fast-check";
import { UNHEARD } from "../../support/library-fixture.js";
import { startTestApp, type TestApp } from "../../support/test-app.js";
import { commandsOn, type Model, type Real } from "./commands.js";
import { ALLOWANCE, MAX_CONCURRENT, ModelAccount } from "./reference-model.js";
import { ScriptedRenders } from "./scripted-renders.js";

const ACCOUNTS = 2;
const CREDITS = 30;
/** More runs: `FERMATA_TEST_MODEL_RUNS`. A failure prints its seed and path; `FERMATA_TEST_SEED` runs one again. */
const RUNS = Number(process.env["FERMATA_TEST_MODEL_RUNS"] ?? 6);
const SEED = process.env["FERMATA_TEST_SEED"];

describe("Any sequence of commands", function () {
  this.timeout(60_000 + RUNS * 10_000);
  let test: TestApp;
  let renders: ScriptedRenders;
  before(async () => {
    test = await startTestApp({
      ...UNHEARD,
      work: true,
      settings: {
        tiers: { plus: { maxConcurrent: MAX_CONCURRENT, monthlyCredits: ALLOWANCE } },
        jobs: { confirmSeconds: 0.02 },
      },
    });
    renders = new ScriptedRenders(test.provider);
  });
  after(() => test.close());

  async function setUp(): Promise<{ readonly model: Model; readonly real: Real }> {
    const model = Array.from({ length: ACCOUNTS }, () => new ModelAccount(CREDITS));
    const callers = await Promise.all(model.map(() => test.account({ tier: "plus", credits: CREDITS })));
    return { model, real: { test, renders, callers, bodies: new Map() } };
  }

  it("leaves credits, jobs and answers as a model of the document has them", async () => {
    const property = fc.asyncProperty(commandsOn(ACCOUNTS), async (commands) => {
      const { model, real } = await setUp();
      await fc.asyncModelRun(() => ({ model, real }), commands);
      const open = model.flatMap((account) => account.open);
      for (const { id } of open) renders.end(id, "failed");
      for (const { id } of open) expect((await test.app.generations.wait(id)).status).to.equal("failed");
    });
    await fc.assert(property, { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: Number(SEED) }) });
    const { violations, checked } = await test.app.credits.verify({ full: true });
    expect(violations).to.deep.equal([]);
    expect(checked.accounts).to.be.at.least(ACCOUNTS);
  });
});
