import { defineTests } from "./scenarios.js";
import { usualTiming } from "./timing.js";

/** The short forms; `npm run test:faults` runs them repeatedly with random timing. */
describe("Bought work is not thrown away", () => defineTests(usualTiming));
