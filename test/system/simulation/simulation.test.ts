import { expect } from "chai";
import { aSeed } from "../../support/chaos/seeded-random.js";
import { createImage, type Image } from "../../support/simulation/image.js";
import { type Plan, planOf, SIZE } from "../../support/simulation/plan.js";
import { reportOf, runSeed } from "../../support/simulation/report.js";
import { SABOTAGES } from "../../support/simulation/sabotage.js";
import { kindOf, partsOf, planWith, shrink } from "../../support/simulation/shrink.js";
import { type RunOptions, simulate } from "../../support/simulation/simulation.js";

/** The long form is `npm run simulate`. */
const SEEDS = 8;
/** Within so many seeds a broken part is found. */
const FOUND_WITHIN = 40;
/** The rarest are looked for where they were found last; each of the others is found among the first. */
const FIRST: Readonly<Record<string, number>> = {
  "a retried acceptance that is not known again": 14,
  "fences of deliveries that are not compared": 20,
};

describe("The simulation", function () {
  this.timeout(600_000);
  let image: Image;

  before(async () => {
    image = await createImage(SIZE.accounts);
  });

  async function expectFine(seed: number, options: RunOptions = {}): Promise<void> {
    const run = await runSeed(seed, image, null, options);
    if (run.violation !== null) throw new Error(await reportOf(run, image, options));
    expect(run.count?.jobs).to.be.greaterThan(0);
  }

  it(`ends everything and keeps every invariant, seeds 1 to ${SEEDS}`, async () => {
    for (let seed = 1; seed <= SEEDS; seed++) await expectFine(seed);
  });

  it("ends deliveries to a failing host of which each process has an attempt that never ends", () =>
    expectFine(300_679));

  const seed = aSeed();
  it(`does so with a new seed, which is ${seed} this time`, () => expectFine(seed, { checkEvery: 1, productEvery: 4 }));

  it("is the same whenever its seed is the same, and another one with another seed", async () => {
    const hashes: string[] = [];
    for (const one of [11, 12, 11, 12]) hashes.push((await runSeed(one, image, null, {})).hash);
    expect(hashes.slice(0, 2)).to.deep.equal(hashes.slice(2));
    expect(hashes[0]).to.not.equal(hashes[1]);
  });

  it("uses neither real time nor real randomness", async () => {
    const { now } = Date;
    const used: string[] = [];
    const originals = [
      [Date, "now", now],
      [Math, "random", Math.random.bind(Math)],
      [performance, "now", performance.now.bind(performance)],
      [globalThis, "setTimeout", setTimeout],
      [globalThis, "setInterval", setInterval],
      [crypto, "getRandomValues", crypto.getRandomValues.bind(crypto)],
    ] as const;
    for (const [owner, name, original] of originals) {
      const watched = (...given: unknown[]): unknown => {
        used.push(`${name} ${new Error().stack}`);
        return (original as (...all: unknown[]) => unknown)(...given);
      };
      Object.defineProperty(owner, name, { value: watched, configurable: true, writable: true });
    }
    try {
      await runSeed(3, image, null, {});
    } finally {
      for (const [owner, name, original] of originals)
        Object.defineProperty(owner, name, { value: original, configurable: true, writable: true });
    }
    expect(used).to.deep.equal([]);
  });

  for (const [what, sabotage] of Object.entries(SABOTAGES)) {
    it(`finds ${what}`, async () => {
      const found: string[] = [];
      const first = FIRST[what] ?? 1;
      for (let one = first; one < first + FOUND_WITHIN && found.length === 0; one++) {
        const { violation } = await runSeed(one, image, null, { sabotage });
        if (violation !== null) found.push(violation);
      }
      expect(found, `in ${FOUND_WITHIN} seeds`).to.have.length(1);
    });
  }

  it("leaves out what a failure does not need, and says how to see it again", async () => {
    const sabotage = SABOTAGES["a webhook that counts as delivered, whatever its receiver says"] ?? {};
    for (let one = 1; ; one++) {
      const failed = await runSeed(one, image, null, { sabotage });
      if (failed.violation === null) continue;
      const report = await reportOf(failed, image, { sabotage });
      const command = /npm run simulate -- --seed (\d+) --only (\S+)$/.exec(report);
      const parts = command?.[2]?.split(",") ?? [];
      // One job, and the receiver that refuses its event.
      expect(parts.map((part) => part[0])).to.deep.equal(["o", "f"]);
      const again = await runSeed(Number(command?.[1]), image, parts, { sabotage });
      expect(kindOf(again.violation)).to.equal(kindOf(failed.violation));
      return;
    }
  });

  it("shrinks a plan to the parts that fail together", async () => {
    const needed = ["o2", "o5", "f1"];
    const fails = async (plan: Plan): Promise<boolean> => needed.every((part) => partsOf(plan).includes(part));
    expect(partsOf(await shrink(planOf(1), fails))).to.deep.equal(needed);
    const alone = await simulate(planWith(planOf(1), []), image);
    expect(alone).to.deep.include({ violation: null, count: { jobs: 0, bought: 0, delivered: 0, excused: 0 } });
  });
});
