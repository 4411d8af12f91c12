import { expect } from "chai";
import { aSeed } from "../../support/chaos/seeded-random.js";
import { FAULTS } from "../../support/crashes/boundary.js";
import { nameOf, nameOfChain, stackNamed } from "../../support/crashes/cases.js";
import { allPoints, casesOf, chainsOf, measureUse, runChains, type PointUse } from "../../support/crashes/matrix.js";
import { portCalls } from "../../support/crashes/points.js";
import { UNREACHED } from "../../support/crashes/unreached.js";
import { useSandbox } from "../../support/process.js";

/** Points on each of two stacks; the long form, `npm run test:crashes`, has all. */
const SAMPLE = 3;

describe("Processes that fail at boundaries of their ports", function () {
  this.timeout(300_000);
  const sandbox = useSandbox();
  let use: ReadonlyMap<string, PointUse> = new Map();

  it("could do so at every call that a port declares, but for those that are listed with a reason", () => {
    expect([...UNREACHED.keys()].filter((call) => !portCalls().includes(call))).to.deep.equal([]);
    expect(allPoints()).to.include.members(["jobs.claimJobs:before", "unitOfWork.work:after", "provider.submit:after"]);
  });

  it("come to every point, and to no call that is listed as not reached, while nothing fails", async () => {
    use = await measureUse(sandbox, stackNamed("sqlite"));
    expect([...use.keys()].sort()).to.deep.equal(allPoints().sort());
  });

  const seed = aSeed();
  it(`leave nothing undone, done twice or wrong, with seed ${seed}`, async () => {
    const cases = ["sqlite", "mysql+broker"].flatMap((stack) =>
      casesOf([stackNamed(stack)], FAULTS, seed).slice(0, SAMPLE),
    );
    const broken: string[] = [];
    const results = await runChains(sandbox, chainsOf(cases, use), {
      lanes: 2,
      onResult: () => undefined,
      onChain: (chain, violations) => {
        if (violations.length > 0) broken.push(`${nameOfChain(chain)}: ${violations.join("; ")}`);
      },
    });
    expect(broken).to.deep.equal([]);
    expect(results.filter(({ isReached }) => isReached).map(nameOf)).to.have.lengthOf(2 * SAMPLE);
  });
});
