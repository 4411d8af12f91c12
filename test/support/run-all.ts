/**
 * Runs every test in two lanes, one for each of two cores, and what mostly waits in a third one. A lane that is free
 * takes the next run, and those of the cores in the end what is left for the third. Each run is shown when it has
 * ended, with its time. Those of the API run once more on MySQL and RabbitMQ. Arguments go to every run. Where
 * `FERMATA_TEST_RESULT` names a file, it gets the sums: `PASSED FAILED`.
 */
import { spawn } from "node:child_process";
import { createReadStream, createWriteStream, readdirSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { REPOSITORY } from "./repository.js";
import { type Run, runsOf } from "./runs.js";
import { installMissingPackages } from "./services.js";

interface Sums {
  readonly passed: number;
  readonly failed: number;
}

/** More that compute load two cores so much that tests of limits miss their bounds. */
const CORES = 2;
const TESTS = "dist/test";

const MOCHA = [
  join(REPOSITORY, "node_modules/mocha/bin/mocha.js"),
  "--no-config",
  "--enable-source-maps",
  "--timeout=30000",
  "--reporter=./test/support/reporter.cjs",
  "--require=./dist/test/support/setup.js",
];

const given = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "fermata-tests-"));

await installMissingPackages();
const names = readdirSync(join(REPOSITORY, TESTS), { recursive: true, encoding: "utf8" });
const runs = [...runsOf(names.filter((name) => name.endsWith(".test.js")).sort()).entries()];
const light = runs.filter(([, { isLight = false }]) => isLight).values();
const heavy = runs.filter(([, { isLight = false }]) => !isLight).values();
const ended: Sums[] = [];
let shown = Promise.resolve();
const computing = Array.from({ length: CORES }, async () => {
  await lane(heavy);
  await lane(light);
});
await Promise.all([...computing, lane(light)]);
await shown;

const sums = { passed: sumOf(ended, "passed"), failed: sumOf(ended, "failed") };
const resultFile = process.env["FERMATA_TEST_RESULT"];
if (resultFile !== undefined) await writeFile(resultFile, `${sums.passed} ${sums.failed}\n`);
else process.stdout.write(`${sums.passed} passed, ${sums.failed} failed\n`);
await rm(folder, { recursive: true });
// A pattern that matches no test fails.
process.exitCode = sums.failed > 0 || sums.passed === 0 ? 1 : 0;

async function lane(waiting: Iterator<[number, Run]>): Promise<void> {
  for (let next = waiting.next(); next.done !== true; next = waiting.next()) {
    const [index, run] = next.value;
    const output = join(folder, `${index}.out`);
    const began = performance.now();
    ended.push(await runMocha(run, output, join(folder, `${index}.result`)));
    const seconds = Math.round((performance.now() - began) / 1000);
    shown = shown.then(async () => {
      process.stdout.write(`== ${run.title}: ${seconds} s\n`);
      await pipeline(createReadStream(output), process.stdout, { end: false });
    });
  }
}

async function runMocha({ env, files }: Run, output: string, result: string): Promise<Sums> {
  const child = spawn(process.execPath, [...MOCHA, ...files.map((file) => join(TESTS, file)), ...given], {
    cwd: REPOSITORY,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env, FERMATA_TEST_RESULT: result },
  });
  const exited = new Promise<number | null>((resolve, reject) => child.once("error", reject).once("exit", resolve));
  const file = createWriteStream(output);
  await Promise.all([child.stdout, child.stderr].map((stream) => pipeline(stream, file, { end: false })));
  await new Promise<void>((resolve) => file.end(resolve));
  const code = await exited;
  const text = await readFile(result, "utf8").catch(() => null);
  // A run that crashed has no result; one may fail outside its tests. Each counts as a failure.
  if (text === null) return { passed: 0, failed: 1 };
  const [passed = 0, failed = 0] = text.trim().split(" ").map(Number);
  return { passed, failed: failed === 0 && code !== 0 ? 1 : failed };
}

function sumOf(all: readonly Sums[], member: keyof Sums): number {
  return all.reduce((sum, one) => sum + one[member], 0);
}
