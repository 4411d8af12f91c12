/**
 * Mocha's `spec` reporter, which names the files that took longest and ends with the result on a line of its own: `N
 * passed, N failed`. With FERMATA_TEST_RESULT it writes the figures to the file of that name instead, and below them a
 * line for each failure: .ci/run ends with both.
 */
const { writeFileSync } = require("node:fs");
const { relative } = require("node:path");
const { reporters } = require("mocha");

const SHOWN = 12;
const MESSAGE_CHARACTERS = 400;

module.exports = class extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const times = new Map();
    const add = ({ file, duration = 0 }) => times.set(file, (times.get(file) ?? 0) + duration);
    runner.on("test end", add).on("hook end", add);
    const failed = [];
    runner.on("fail", (test, error) => {
      const message = String(error?.message ?? error).replace(/\s+/g, " ");
      const file = test.file === undefined ? "" : ` (${relative(process.cwd(), test.file)})`;
      failed.push(`${test.fullTitle()}${file}: ${message.slice(0, MESSAGE_CHARACTERS)}`);
    });
    runner.once("end", () => {
      const slowest = [...times].filter(([file]) => file !== undefined).sort(([, one], [, other]) => other - one);
      for (const [file, ms] of slowest.slice(0, SHOWN))
        process.stdout.write(`  ${(ms / 1000).toFixed(1).padStart(6)} s  ${relative(process.cwd(), file)}\n`);
      const { passes, failures } = runner.stats;
      const file = process.env.FERMATA_TEST_RESULT;
      if (file) writeFileSync(file, [`${passes} ${failures}`, ...failed, ""].join("\n"));
      else process.stdout.write(`${passes} passed, ${failures} failed\n`);
    });
  }
};
