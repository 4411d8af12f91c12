import { expect } from "chai";
import { FAULTS } from "../../support/crashes/boundary.js";
import { allPoints, casesOf, nameOf, runCases, STACKS, stackName } from "../../support/crashes/matrix.js";
import { portCalls } from "../../support/crashes/points.js";
import { runCrash } from "../../support/crashes/run.js";
import { UNREACHED } from "../../support/crashes/unreached.js";
import { aSeed } from "../../support/chaos/seeded-random.js";
import { useSandbox } from "../../support/process.js";

const EMBEDDED = { engine: "sqlite", withBroker: false } as const;
/** Runs on each of two stacks; the long form, `npm run test:crashes`, has all. */
const SAMPLE = 1;

describe("A process that fails at a boundary of its ports", function () {
  this.timeout(300_000);
  const sandbox = useSandbox();

  it("could do so at every call that a port declares, but for those that are listed with a reason", () => {
    expect([...UNREACHED.keys()].filter((call) => !portCalls().includes(call))).to.deep.equal([]);
    expect(allPoints()).to.include.members(["jobs.claimJobs:before", "unitOfWork.work:after", "provider.submit:after"]);
  });

  it("comes to every point, and to no call that is listed as not reached, while nothing fails", async () => {
    const { violations, counts } = await runCrash(sandbox, EMBEDDED, null);
    expect(violations).to.deep.equal([]);
    expect(Object.keys(counts).sort()).to.deep.equal(allPoints().sort());
  });

  const seed = aSeed();
  it(`leaves nothing undone, done twice or wrong, with seed ${seed}`, async () => {
    const [embedded, onServers] = [STACKS.filter((stack) => stack === STACKS[0]), STACKS.slice(-1)];
    const cases = [
      ...casesOf(embedded, FAULTS, seed).slice(0, SAMPLE),
      ...casesOf(onServers, FAULTS, seed).slice(0, SAMPLE),
    ];
    const results = await runCases(sandbox, cases, { lanes: 2, onResult: () => undefined });
    const violated = results.filter(({ violations }) => violations.length > 0);
    expect(violated.map((one) => `${nameOf(one)}: ${one.violations.join("; ")}`)).to.deep.equal([]);
    expect(results.filter(({ isReached }) => isReached)).to.not.deep.equal([]);
    expect(new Set(results.map(({ stack }) => stackName(stack))).size).to.equal(2);
  });
});
