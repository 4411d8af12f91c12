import { expect } from "chai";
import { type Fault, FAULTS } from "../../support/crashes/boundary.js";
import { casesOf, caseNamed, nameOf, runCases, STACKS, stackName, tableOf } from "../../support/crashes/matrix.js";
import { aSeed } from "../../support/chaos/seeded-random.js";
import { useSandbox } from "../../support/process.js";

/** The long form of sample.test.ts, run by `npm run test:crashes`. */
const {
  FERMATA_TEST_CRASH_CASE: named,
  FERMATA_TEST_CRASH_CASES: most = "Infinity",
  FERMATA_TEST_CRASH_STACKS: onStacks = STACKS.map(stackName).join(),
  FERMATA_TEST_CRASH_FAULTS: withFaults = FAULTS.join(),
  FERMATA_TEST_CRASH_LANES: lanes = "2",
  FERMATA_TEST_CRASH_SECONDS: seconds = "Infinity",
} = process.env;

describe("A process that fails at any boundary of its ports", function () {
  this.timeout(0);
  const sandbox = useSandbox();

  it("leaves nothing undone, done twice or wrong", async () => {
    const seed = aSeed();
    const stacks = STACKS.filter((stack) => onStacks.split(",").includes(stackName(stack)));
    const faults = withFaults.split(",") as Fault[];
    const cases = named === undefined ? casesOf(stacks, faults, seed) : [caseNamed(named)];
    process.stdout.write(`FERMATA_TEST_SEED=${seed}: ${cases.length} cases\n`);
    const endsAt = performance.now() + Number(seconds) * 1000;
    const inTime = function* (): Generator<(typeof cases)[number]> {
      for (const one of cases.slice(0, Number(most))) if (performance.now() < endsAt) yield one;
    };
    const results = await runCases(sandbox, inTime(), {
      lanes: Number(lanes),
      onResult: (result) => {
        const outcome = result.isReached ? "reached" : "not reached";
        process.stdout.write(`${nameOf(result)}: ${[outcome, ...result.violations].join("; ")}\n`);
        if (named !== undefined) process.stdout.write(result.log);
      },
    });
    process.stdout.write(tableOf(results));
    const violated = results.filter(({ violations }) => violations.length > 0);
    expect(violated.map((one) => `${nameOf(one)}: ${one.violations.join("; ")}`)).to.deep.equal([]);
  });
});
