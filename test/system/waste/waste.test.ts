import { defineTests } from "./scenarios.js";
import { usualTiming } from "./timing.js";

/** The short forms; `npm run test:faults` runs them again and again with random timing. */
describe("What was bought is not thrown away", () => defineTests(usualTiming));
