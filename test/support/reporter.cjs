/**
 * Mocha's `spec` reporter, which ends with the result on a line of its own: `N passed, N failed`. With
 * FERMATA_TEST_RESULT it writes the figures to the file of that name instead, and .ci/run prints the line at its end.
 */
const { writeFileSync } = require("node:fs");
const { reporters } = require("mocha");

module.exports = class extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once("end", () => {
      const { passes, failures } = runner.stats;
      const file = process.env.FERMATA_TEST_RESULT;
      if (file) writeFileSync(file, `${passes} ${failures}\n`);
      else process.stdout.write(`${passes} passed, ${failures} failed\n`);
    });
  }
};
