import { expect } from "chai";
import { aSeed } from "../../support/chaos/seeded-random.js";
import { type Fault, FAULTS } from "../../support/crashes/boundary.js";
import { chainNamed, nameOf, nameOfChain, stackNamed } from "../../support/crashes/cases.js";
import { allPoints, casesOf, chainsOf, measureUse, runChains } from "../../support/crashes/matrix.js";
import { keyOf, ResultFile, tableOf } from "../../support/crashes/report.js";
import { useSandbox } from "../../support/process.js";

/** The long form of sample.test.ts, run by `npm run test:crashes`. */
const {
  FERMATA_TEST_CRASH_CASE: named,
  FERMATA_TEST_CRASH_CASES: most = "Infinity",
  FERMATA_TEST_CRASH_STACKS: onStacks = "sqlite,sqlite+broker,mysql,mysql+broker",
  FERMATA_TEST_CRASH_FAULTS: withFaults = FAULTS.join(),
  FERMATA_TEST_CRASH_POINTS: atPoints = "",
  FERMATA_TEST_CRASH_PART: part = "1/1",
  FERMATA_TEST_CRASH_LANES: lanes = "2",
  FERMATA_TEST_CRASH_SECONDS: seconds = "Infinity",
  FERMATA_TEST_CRASH_RESULTS: resultFile = null,
} = process.env;

const write = (line: string): void => void process.stdout.write(`${line}\n`);

describe("Processes that fail at any boundary of their ports", function () {
  this.timeout(0);
  const sandbox = useSandbox();

  it("leave nothing undone, done twice or wrong", async () => {
    const seed = aSeed();
    const stacks = onStacks.split(",").map(stackNamed);
    const kept = new ResultFile(resultFile);
    const done = new Set(
      kept.read().flatMap((one) => (one.isReached && one.violations.length === 0 ? keyOf(one) : [])),
    );
    const [number = 1, parts = 1] = part.split("/").map(Number);
    const cases = casesOf(stacks, withFaults.split(",") as Fault[], seed)
      .filter(({ plan }) => new RegExp(atPoints).test(plan.point))
      .filter((_case, index) => index % parts === number - 1)
      .filter((one) => !done.has(keyOf(one)))
      .slice(0, Number(most));
    const [stack] = stacks;
    const use =
      named === undefined && stack !== undefined ? await measureUse(sandbox, stack) : new Map<string, never>();
    const chains = named === undefined ? chainsOf(cases, use) : [chainNamed(named)];
    const count = chains.flatMap(({ lives }) => lives.flat()).length;
    write(`FERMATA_TEST_SEED=${seed}: ${count} cases in ${chains.length} chains`);
    const startsAt = performance.now();
    const inTime = function* (): Generator<(typeof chains)[number]> {
      for (const one of chains) if (performance.now() < startsAt + Number(seconds) * 1000) yield one;
    };
    const broken: string[] = [];
    const results = await runChains(sandbox, inTime(), {
      lanes: Number(lanes),
      onResult: (result) => {
        kept.note(result);
        const { isReached, violations } = result;
        if (!isReached || violations.length > 0)
          write(`${nameOf(result)}: ${[isReached ? "reached" : "NOT REACHED", ...violations].join("; ")}`);
      },
      onChain: (chain, violations, log) => {
        const elapsed = Math.round((performance.now() - startsAt) / 1000);
        write(`${elapsed} s: ${chain.lives.flat().length} cases on ${nameOfChain(chain).split(" ", 1)[0]} have run`);
        if (named !== undefined) write(log);
        if (violations.length === 0) return;
        broken.push(`${nameOfChain(chain)}: ${violations.join("; ")}`);
        write(`FERMATA_TEST_CRASH_CASE="${nameOfChain(chain)}" ${violations.join("; ")}`);
      },
    });
    write(tableOf(resultFile === null ? results : kept.read(), allPoints().length));
    const unreached = results.filter(({ isReached }) => !isReached).map(nameOf);
    expect({ broken, unreached }).to.deep.equal({ broken: [], unreached: [] });
  });

  it("are found out alone when their chain bought a job twice, by a provider that forgets submissions", async () => {
    const stack = { ...stackNamed("sqlite"), isForgetful: true };
    const [other, guilty] = ["kill webhooks.claimDeliveries:before 1", "kill provider.submit:after 1"];
    const results = await runChains(sandbox, [{ ...chainNamed(`sqlite ${other}; ${guilty}`), stack }], {
      lanes: 1,
      onResult: () => undefined,
      onChain: () => undefined,
    });
    // The other one may be to blame as well: a call may be under way when its process dies.
    const violated = results.filter(({ violations }) => violations.length > 0);
    expect(violated.map(nameOf)).to.include(`sqlite ${guilty}`);
    expect(violated.flatMap(({ violations }) => violations).join()).to.match(/was bought 2 times/);
  });
});
