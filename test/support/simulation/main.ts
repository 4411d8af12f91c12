/**
 * `npm run simulate -- --seeds 1000` runs so many seeds, on two processes; `--from 5000` begins with that one.
 * `npm run simulate -- --seed 123` runs one and shows its history; `--only o3,f7` with these parts of its plan alone.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createImage, type Image } from "./image.js";
import { SIZE } from "./plan.js";
import { reportOf, runSeed } from "./report.js";
import type { Run } from "./simulation.js";

const PROCESSES = 2;
/** Seeds that a process runs before it says so. */
const BATCH = 10;

interface Batch {
  readonly image?: Image;
  readonly seeds: readonly number[];
}

interface Sums {
  seeds: number;
  failed: number;
  steps: number;
  jobs: number;
  bought: number;
  delivered: number;
  excused: number;
}

const { values } = parseArgs({
  options: {
    seeds: { type: "string" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    only: { type: "string" },
    worker: { type: "boolean", default: false },
  },
});

if (values.worker) work();
else if (values.seed !== undefined) await one(Number(values.seed), values.only?.split(",") ?? null);
else await many(Number(values.from), Number(values.seeds ?? "100"));

async function one(seed: number, only: readonly string[] | null): Promise<void> {
  const run = await runSeed(seed, await createImage(SIZE.accounts), only, { keepsHistory: true, productEvery: 1 });
  const { history, violation, ...figures } = run;
  process.stdout.write(`${history.join("\n")}\n${JSON.stringify(figures)}\n${violation ?? "nothing was wrong"}\n`);
  process.exitCode = violation === null ? 0 : 1;
}

async function many(from: number, count: number): Promise<void> {
  const startedAt = performance.now();
  // They start while the image is made.
  const workers = Array.from({ length: PROCESSES }, () =>
    fork(fileURLToPath(import.meta.url), ["--worker"], { serialization: "advanced" }),
  );
  const image = await createImage(SIZE.accounts);
  const seeds = Array.from({ length: count }, (_, index) => from + index);
  const sums: Sums = { seeds: 0, failed: 0, steps: 0, jobs: 0, bought: 0, delivered: 0, excused: 0 };
  await Promise.all(workers.map((worker) => lane(worker, image, seeds, sums)));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const { seeds: done, failed, steps, jobs, bought, delivered, excused } = sums;
  process.stdout.write(
    `${done} seeds in ${seconds} s, ${failed} failed; ${steps} steps, ${jobs} jobs, ${bought} bought, ` +
      `${delivered} delivered, ${excused} lost by providers or cancelled; waste: ${bought - delivered - excused}\n`,
  );
  process.exitCode = failed === 0 && done === count ? 0 : 1;
}

/** Keeps one process busy with the seeds that are left. */
async function lane(worker: ChildProcess, image: Image, seeds: number[], sums: Sums): Promise<void> {
  const send = (batch: Batch): void => void worker.send(batch);
  send({ image, seeds: seeds.splice(0, BATCH) });
  worker.on("message", ({ runs, reports }: { runs: readonly Run[]; reports: readonly string[] }) => {
    for (const run of runs) add(sums, run);
    for (const report of reports) process.stdout.write(`${report}\n\n`);
    if (seeds.length > 0) send({ seeds: seeds.splice(0, BATCH) });
    else worker.disconnect();
  });
  await once(worker, "exit");
}

function add(sums: Sums, { violation, steps, count }: Run): void {
  sums.seeds += 1;
  sums.failed += violation === null ? 0 : 1;
  sums.steps += steps;
  sums.jobs += count?.jobs ?? 0;
  sums.bought += count?.bought ?? 0;
  sums.delivered += count?.delivered ?? 0;
  sums.excused += count?.excused ?? 0;
}

function work(): void {
  let known: Image | null = null;
  process.on("message", (batch: Batch) => {
    const image = (known = batch.image ?? known) as Image;
    void runBatch(batch.seeds, image).then((done) => process.send?.(done));
  });
}

async function runBatch(seeds: readonly number[], image: Image): Promise<{ runs: Run[]; reports: string[] }> {
  const [runs, reports]: [Run[], string[]] = [[], []];
  for (const seed of seeds) {
    const run = await runSeed(seed, image, null, {});
    runs.push(run);
    if (run.violation !== null) reports.push(await reportOf(run, image));
  }
  return { runs, reports };
}
