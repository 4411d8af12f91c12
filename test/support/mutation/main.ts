/**
 * Changes the code of folders of `core/` bit by bit with StrykerJS, and runs the folder's unit tests and use
 * cases on each change.
 *
 *     npm run test:mutation -- core/attempts core/credits
 *     npm run test:mutation -- core/attempts --without=decide-properties    leaves this file of tests out
 */
import { Stryker } from "@stryker-mutator/core";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { RunnerOptions } from "./test-runner.js";

const SCORE_MIN = 85;

/** Tests of use cases of other folders that go through the code of a folder. */
const FURTHER: Readonly<Record<string, readonly string[]>> = {
  "core/jobs": [
    "use-cases/generations/generations.test.ts",
    "use-cases/generations/splits.test.ts",
    "use-cases/attempts/apply-reports.test.ts",
  ],
  "core/results": ["use-cases/execution/store.test.ts", "use-cases/execution/build-request.test.ts"],
  "core/webhooks": ["system/webhooks/failing-for-days.test.ts", "system/webhooks/hosts.test.ts"],
};
const FOLDER = /^core(\/[\w-]+)*$/;

const WITHOUT = "--without=";
const words = process.argv.slice(2);
const targets = words.filter((word) => !word.startsWith(WITHOUT));
const without = words.filter((word) => word.startsWith(WITHOUT)).map((word) => word.slice(WITHOUT.length));
if (targets.length === 0) fail("Name folders or files of core/, such as core/attempts.");
const wrong = targets.find((target) => !FOLDER.test(target.replace(/(\.ts|\/)$/, "")));
if (wrong !== undefined) fail(`${wrong} is no folder or file of core/.`);

const plugin = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const places = [...new Set(targets.flatMap(testsOf))];
const ours: RunnerOptions = { unitTests: { places, without, setup: "test/support/setup.ts" } };
const mutants = await new Stryker({
  ...ours,
  mutate: targets.map((target) => (target.endsWith(".ts") ? target : `${target}/**/*.ts`)),
  plugins: [plugin("test-runner.js"), plugin("messages.js")],
  ignorers: ["messages"],
  testRunner: "unit-tests",
  testRunnerNodeArgs: ["--import", "tsx"],
  coverageAnalysis: "perTest",
  // Mutants that run when a module is loaded need a process of their own each.
  ignoreStatic: true,
  concurrency: 1,
  tempDirName: "dist/.stryker",
  ignorePatterns: ["/dist", "/adapters/web", "/test/fixtures", "/config/helm"],
  reporters: ["clear-text", "progress-append-only"],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  thresholds: { high: 100, low: SCORE_MIN, break: SCORE_MIN },
  warnings: { unknownOptions: false, preprocessorErrors: true, unserializableOptions: true, slow: true },
}).runMutationTest();
const survived = mutants.filter(({ status }) => status === "Survived" || status === "NoCoverage").length;
process.stdout.write(`${survived} of ${mutants.length} mutants survived\n`);

/** A file directly in `core/` has a file of tests of its own. */
function testsOf(target: string): string[] {
  if (/^core\/[\w-]+\.ts$/.test(target)) return [`test/unit/${target.replace(/\.ts$/, ".test.ts")}`];
  const folder = target.replace(/\/([\w-]+\.ts)?$/, "");
  const own = [`test/unit/${folder}`, folder.replace("core", "test/use-cases")].filter((place) => existsSync(place));
  return [...own, ...(FURTHER[folder] ?? []).map((name) => `test/${name}`)];
}

function fail(words: string): never {
  process.stderr.write(`${words}\n`);
  process.exit(2);
}
