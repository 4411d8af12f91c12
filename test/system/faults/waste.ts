import { wasteLine, wasteOfAll } from "../../support/waste.js";
import { defineTests } from "../waste/scenarios.js";
import { randomTiming } from "../waste/timing.js";

const RUNS = 20;

/** The long form of test/system/waste, run by `npm run test:faults`. Its last line is the waste of all runs. */
describe("Bought work is not thrown away, with random timing", () => {
  // After everything that mocha prints.
  before(() => void process.once("exit", () => process.stdout.write(`${wasteLine(wasteOfAll)}\n`)));

  defineTests(
    randomTiming,
    Array.from({ length: RUNS }, (_, index) => ` (run ${index + 1})`),
  );
});
