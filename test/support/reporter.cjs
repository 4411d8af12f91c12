/**
 * Mocha's `spec` reporter, which names the files that took longest, with the processor time of their process and of its
 * children, and ends with the result on a line of its own: `N passed, N failed`. With FERMATA_TEST_RESULT it writes the
 * figures to the file of that name instead, and below them a line for each failure: .ci/run ends with both. With
 * FERMATA_TEST_TIMES it adds a line for every file to the file of that name: seconds, of processor time, path.
 */
const { appendFileSync, readFileSync, writeFileSync } = require("node:fs");
const { relative } = require("node:path");
const { reporters } = require("mocha");

const SHOWN = 12;
const MESSAGE_CHARACTERS = 400;
/** Linux counts in these, on every machine. */
const TICK_MS = 10;

module.exports = class extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const taken = new Map();
    let before = processorMs();
    const add = ({ file, duration = 0 }) => {
      if (file === undefined) return;
      const now = processorMs();
      const { ms, ofProcessor } = taken.get(file) ?? { ms: 0, ofProcessor: 0 };
      taken.set(file, { ms: ms + duration, ofProcessor: ofProcessor + now - before });
      before = now;
    };
    runner.on("test end", add).on("hook end", add);
    const failed = [];
    runner.on("fail", (test, error) => {
      const message = String(error?.message ?? error).replace(/\s+/g, " ");
      const file = test.file === undefined ? "" : ` (${relative(process.cwd(), test.file)})`;
      failed.push(`${test.fullTitle()}${file}: ${message.slice(0, MESSAGE_CHARACTERS)}`);
    });
    runner.once("end", () => {
      const seconds = (ms) => (ms / 1000).toFixed(1).padStart(6);
      const slowest = [...taken].sort(([, one], [, other]) => other.ms - one.ms);
      const line = ([file, { ms, ofProcessor }]) =>
        `  ${seconds(ms)} s ${seconds(ofProcessor)} s  ${relative(process.cwd(), file)}\n`;
      for (const one of slowest.slice(0, SHOWN)) process.stdout.write(line(one));
      const times = process.env.FERMATA_TEST_TIMES;
      if (times) appendFileSync(times, slowest.map(line).join(""));
      const { passes, failures } = runner.stats;
      const file = process.env.FERMATA_TEST_RESULT;
      if (file) writeFileSync(file, [`${passes} ${failures}`, ...failed, ""].join("\n"));
      else process.stdout.write(`${passes} passed, ${failures} failed\n`);
    });
  }
};

/** Of this process, and on Linux of its children that have ended. */
function processorMs() {
  const { user, system } = process.cpuUsage();
  const own = (user + system) / 1000;
  if (process.platform !== "linux") return own;
  const stat = readFileSync("/proc/self/stat", "utf8");
  const [, , , , , , , , , , , , , ofUser, ofSystem] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return own + (Number(ofUser) + Number(ofSystem)) * TICK_MS;
}
