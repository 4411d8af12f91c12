/**
 * Runs every test in two lanes, one for each of two cores, and what mostly waits in two others. A lane that is free
 * takes the next run, and those of the cores in the end what is left for the others. Each run is shown when it has
 * ended, with its time. Those of the API run once more on MySQL and RabbitMQ. Arguments go to every run. Where
 * `FERMATA_TEST_RESULT` names a file, it gets the sums, `PASSED FAILED`, and a line for each failure; else both are
 * shown at the end.
 */
import { createReadStream, readdirSync } from "node:fs";
import { mkdtemp, rm, statfs, writeFile } from "node:fs/promises";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { REPOSITORY } from "./repository.js";
import { type Run, runsOf } from "./runs.js";
import { installMissingPackages } from "./services.js";
import { sharedServer } from "./shared-mysql.js";
import { type Outcome, startRun, type TestRun } from "./test-run.js";

/** More that compute load two cores so much that tests of limits miss their bounds. */
const CORES = 2;
/** Lanes of runs that mostly wait. */
const WAITING = 2;
const TESTS = "dist/test";
/** Many times what the longest test takes on a slow machine. */
const SILENT_MS = 600_000;

const IN_MEMORY = "/dev/shm";
const IN_MEMORY_BYTES_MIN = 4 * 1024 ** 3;
/** What all processes of the tests take at once. */
const PROCESSES_BYTES = 4 * 1024 ** 3;

const MOCHA = [
  join(REPOSITORY, "node_modules/mocha/bin/mocha.js"),
  "--no-config",
  "--timeout=30000",
  "--forbid-only",
  "--forbid-pending",
  "--reporter=./test/support/reporter.cjs",
  "--require=./dist/test/support/setup.js",
];

const given = process.argv.slice(2);
const folder = await mkdtemp(join(await temporaryPlace(), "fermata-tests-"));
process.env["TMPDIR"] = folder;

await installMissingPackages();
// Where none runs, one for all of them.
process.env["FERMATA_TEST_MYSQL"] = await sharedServer();
process.stdout.write(`files of tests: ${folder}; ${Math.round(freemem() / 1024 ** 2)} MB of memory are free\n`);
const names = readdirSync(join(REPOSITORY, TESTS), { recursive: true, encoding: "utf8" });
const runs = [...runsOf(names.filter((name) => name.endsWith(".test.js")).sort()).entries()];
const light = runs.filter(([, { isLight = false }]) => isLight).values();
const heavy = runs.filter(([, { isLight = false }]) => !isLight).values();
const ended: Outcome[] = [];
const running = new Set<TestRun>();
let isStopped = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop(signal));
let shown = Promise.resolve();
const computing = Array.from({ length: CORES }, async () => {
  await lane(heavy);
  await lane(light);
});
await Promise.all([...computing, ...Array.from({ length: WAITING }, () => lane(light))]);
await shown;

const passed = sumOf(ended, "passed");
const failed = sumOf(ended, "failed");
const failures = ended.flatMap((outcome) => outcome.failures);
const resultFile = process.env["FERMATA_TEST_RESULT"];
if (resultFile !== undefined) await writeFile(resultFile, [`${passed} ${failed}`, ...failures, ""].join("\n"));
else process.stdout.write([...failures, `${passed} passed, ${failed} failed`, ""].join("\n"));
await rm(folder, { recursive: true, force: true });
// A pattern that matches no test fails.
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

/**
 * Where there is a file system in memory with room, databases and audio of tests are there: each commit would wait for
 * a disk otherwise. What a crash of the machine would leave is no test's subject. Such a file system may be as large as
 * the memory, whatever else takes that.
 */
async function temporaryPlace(): Promise<string> {
  if (process.env["TMPDIR"] !== undefined) return tmpdir();
  const { bavail, bsize } = await statfs(IN_MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  const hasRoom = bavail * bsize >= IN_MEMORY_BYTES_MIN && freemem() >= IN_MEMORY_BYTES_MIN + PROCESSES_BYTES;
  return hasRoom ? IN_MEMORY : tmpdir();
}

async function lane(waiting: Iterator<[number, Run]>): Promise<void> {
  for (let next = waiting.next(); next.done !== true && !isStopped; next = waiting.next()) {
    const [index, run] = next.value;
    const output = join(folder, `${index}.out`);
    const began = performance.now();
    const args = [...MOCHA, ...run.files.map((file) => join(TESTS, file)), ...given];
    const files = { output, result: join(folder, `${index}.result`) };
    const started = startRun(run, args, files, SILENT_MS);
    running.add(started);
    ended.push(await started.outcome);
    running.delete(started);
    const seconds = Math.round((performance.now() - began) / 1000);
    shown = shown.then(async () => {
      process.stdout.write(`== ${run.title}: ${seconds} s\n`);
      await pipeline(createReadStream(output), process.stdout, { end: false });
    });
  }
}

/** Each run is shown as far as it came. */
function stop(signal: NodeJS.Signals): void {
  isStopped = true;
  for (const run of running) run.end(`was ended by ${signal}`);
}

function sumOf(all: readonly Outcome[], member: "passed" | "failed"): number {
  return all.reduce((sum, one) => sum + one[member], 0);
}
