/**
 * Mocha's `spec` reporter, which names the files that took longest and ends with the result on a line of its own: `N
 * passed, N failed`. With FERMATA_TEST_RESULT it writes the figures to the file of that name instead, and .ci/run
 * prints the line at its end.
 */
const { writeFileSync } = require("node:fs");
const { relative } = require("node:path");
const { reporters } = require("mocha");

const SHOWN = 12;

module.exports = class extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const times = new Map();
    const add = ({ file, duration = 0 }) => times.set(file, (times.get(file) ?? 0) + duration);
    runner.on("test end", add).on("hook end", add);
    runner.once("end", () => {
      const slowest = [...times].filter(([file]) => file !== undefined).sort(([, one], [, other]) => other - one);
      for (const [file, ms] of slowest.slice(0, SHOWN))
        process.stdout.write(`  ${(ms / 1000).toFixed(1).padStart(6)} s  ${relative(process.cwd(), file)}\n`);
      const { passes, failures } = runner.stats;
      const file = process.env.FERMATA_TEST_RESULT;
      if (file) writeFileSync(file, `${passes} ${failures}\n`);
      else process.stdout.write(`${passes} passed, ${failures} failed\n`);
    });
  }
};
