/**
 * Runs every test, then those of the API once more on MySQL and RabbitMQ: they pass unchanged on both. Arguments go to both runs. Where
 * `FERMATA_TEST_RESULT` names a file, it gets the sums: `PASSED FAILED`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "./repository.js";

interface Run {
  readonly title: string;
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

const RUNS: readonly Run[] = [
  { title: "everything", env: {}, args: [] },
  {
    title: "the API on MySQL and RabbitMQ",
    env: { FERMATA_TEST_STACK: "mysql-rabbitmq" },
    // A --grep may leave nothing here.
    args: [
      "--no-config",
      "--enable-source-maps",
      "--timeout=20000",
      "--reporter=./test/support/reporter.cjs",
      "--require=./dist/test/support/setup.js",
      "dist/test/api/**/*.test.js",
    ],
  },
];

const MOCHA = join(REPOSITORY, "node_modules/mocha/bin/mocha.js");
const resultFile = process.env["FERMATA_TEST_RESULT"];
const sums = [0, 0];
let exitCode = 0;

for (const { title, env, args } of RUNS) {
  process.stdout.write(`== ${title}\n`);
  const own = resultFile === undefined ? {} : { FERMATA_TEST_RESULT: `${resultFile}.part` };
  const { status } = spawnSync(process.execPath, [MOCHA, ...args, ...process.argv.slice(2)], {
    cwd: REPOSITORY,
    stdio: "inherit",
    env: { ...process.env, ...env, ...own },
  });
  exitCode = Math.max(exitCode, status ?? 1);
  if (resultFile !== undefined) addResult(`${resultFile}.part`);
}
if (resultFile !== undefined) writeFileSync(resultFile, `${sums.join(" ")}\n`);
process.exitCode = exitCode;

/** A run without a result broke down: that counts as a failure. */
function addResult(file: string): void {
  const [passed = 0, failed = 1] = existsSync(file) ? readFileSync(file, "utf8").trim().split(" ").map(Number) : [];
  sums[0] = (sums[0] ?? 0) + passed;
  sums[1] = (sums[1] ?? 0) + failed;
  rmSync(file, { force: true });
}
