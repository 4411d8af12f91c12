/**
 * Runs every test in three lanes on two cores: many tests wait for a process or a server more than they compute. Tests
 * that start and kill processes have the first lane, those of the broker the second, so that all take about as long;
 * the tests of the API run once more on MySQL and RabbitMQ. Arguments go to every run. Where
 * `FERMATA_TEST_RESULT` names a file, it gets the sums: `PASSED FAILED`.
 */
import { spawn } from "node:child_process";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { installMissingPackages } from "./services.js";
import { REPOSITORY } from "./repository.js";

interface Run {
  readonly title: string;
  readonly env: Readonly<Record<string, string>>;
  readonly specs: readonly string[];
}

interface Sums {
  readonly passed: number;
  readonly failed: number;
}

const API = ["dist/test/{api,architecture,unit}/**/*.test.js"];
const PLUGINS = [
  "dist/test/plugins/**/*.test.js",
  "dist/test/system/{browser,cli,deploy,jobs,secrets,waste,webhooks}/**/*.test.js",
  "dist/test/adapters/{attempts,audio,audit,downloads,lease,library,provider-api,sandbox,storage,webhook}*.test.js",
];
const BROKER = "dist/test/system/broker/**/*.test.js";
const ADAPTERS = ["dist/test/adapters/**/*.test.js", BROKER, ...without(PLUGINS)];

/**
 * Each lane goes through its runs one after another. The first has all tests that no other run names, and prints at
 * once.
 */
const LANES: readonly (readonly Run[])[] = [
  [
    {
      title: "processes and servers that are killed",
      env: {},
      specs: ["dist/test/**/*.test.js", ...without([...API, ...PLUGINS, BROKER, "dist/test/adapters/**/*.test.js"])],
    },
  ],
  [
    { title: "units and the API", env: {}, specs: API },
    { title: "adapters with servers of their own", env: {}, specs: ADAPTERS },
    {
      title: "the API on MySQL and RabbitMQ",
      env: { FERMATA_TEST_STACK: "mysql-rabbitmq" },
      // What files do to decoders has nothing to do with a storage, and costs half a minute.
      specs: ["dist/test/api/**/*.test.js", ...without(["dist/test/api/split-bombs.test.js"])],
    },
  ],
  [{ title: "plugins and the command line", env: {}, specs: PLUGINS }],
];

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
const [first = [], ...others] = await Promise.all(
  LANES.map((runs, lane) => runLane(runs, lane === 0 ? null : join(folder, `${lane}.out`))),
);
for (const [index] of others.entries())
  await pipeline(createReadStream(join(folder, `${index + 1}.out`)), process.stdout, { end: false });

const ended = [...first, ...others.flat()];
const sums = { passed: sumOf(ended, "passed"), failed: sumOf(ended, "failed") };
const resultFile = process.env["FERMATA_TEST_RESULT"];
if (resultFile !== undefined) await writeFile(resultFile, `${sums.passed} ${sums.failed}\n`);
else process.stdout.write(`${sums.passed} passed, ${sums.failed} failed\n`);
await rm(folder, { recursive: true });
// A pattern that matches no test fails.
process.exitCode = sums.failed > 0 || sums.passed === 0 ? 1 : 0;

/** @returns mocha's arguments that leave these files out */
function without(specs: readonly string[]): string[] {
  return specs.flatMap((spec) => ["--ignore", spec]);
}

/** @param file gets what the runs print; null: it is printed at once */
async function runLane(runs: readonly Run[], file: string | null): Promise<Sums[]> {
  const output = file === null ? process.stdout : createWriteStream(file);
  const all: Sums[] = [];
  for (const [index, run] of runs.entries()) {
    output.write(`== ${run.title}\n`);
    all.push(await runMocha(run, output, join(folder, `${run.title} ${index}`)));
  }
  if (output !== process.stdout) await new Promise<void>((resolve) => output.end(resolve));
  return all;
}

async function runMocha({ env, specs }: Run, output: NodeJS.WritableStream, result: string): Promise<Sums> {
  const child = spawn(process.execPath, [...MOCHA, ...specs, ...given], {
    cwd: REPOSITORY,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env, FERMATA_TEST_RESULT: result },
  });
  const exited = new Promise<number | null>((resolve, reject) => child.once("error", reject).once("exit", resolve));
  await Promise.all([child.stdout, child.stderr].map((stream) => pipeline(stream, output, { end: false })));
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
