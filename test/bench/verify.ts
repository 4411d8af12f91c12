import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStorage } from "../support/databases.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";
import { mysqlStorage } from "../support/mysql.js";
import { repositoryPath } from "../support/repository.js";
import { fillLedger } from "./ledger.js";
import { below, type Bench, type Figure, milliseconds, percentile, perSecond } from "./figures.js";

const JOBS = Number(process.env["VERIFY_JOBS"] ?? 1_000_000);
const MAX_SECONDS = 60;
const QUIET_MS = 5_000;

/** An opened storage that another process can open too. */
type Open = StorageUnderTest & { readonly url: string };

/** `ledger verify`, as an operator runs it, while another process keeps writing. */
export const verify: Bench = {
  name: "verify",
  compares:
    `\`ledger verify\` on ${JOBS.toLocaleString("en")} jobs, the next run with a full one, and single creates ` +
    "alongside it with those before",
  async run() {
    const figures: Figure[] = [];
    for (const { name, open } of [sqliteStorage, mysqlStorage]) figures.push(...(await measure(name, await open())));
    return figures;
  },
};

async function measure(name: string, storage: Open): Promise<Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), "fermata-bench-"));
  try {
    await fillLedger(storage.url, JOBS);
    const alone = await writesUntil(storage, delay(QUIET_MS));
    const begunAt = performance.now();
    const verified = runVerify(storage.url, dataDir);
    const alongside = await writesUntil(storage, verified);
    await succeeded(verified);
    const seconds = (performance.now() - begunAt) / 1000;
    const incremental = await timed(() => succeeded(runVerify(storage.url, dataDir)));
    const again = await timed(() => succeeded(runVerify(storage.url, dataDir, "--full")));
    return [
      {
        name: `${name}: ledger verify`,
        value: `${seconds.toFixed(1)} s`,
        baseline: "",
        ratio: null,
        target: below(seconds, MAX_SECONDS, " s"),
      },
      {
        name: `${name}: what is new since`,
        value: `${incremental.toFixed(1)} s`,
        baseline: `${again.toFixed(1)} s (--full)`,
        ratio: incremental / again,
        target: null,
      },
      {
        name: `${name}: alongside it`,
        value: perSecond(alongside.perSecond),
        baseline: perSecond(alone.perSecond),
        ratio: alongside.perSecond / alone.perSecond,
        target: null,
      },
      {
        name: `${name}: slowest alongside it`,
        value: milliseconds(alongside.slowestMs),
        baseline: milliseconds(alone.slowestMs),
        ratio: alongside.slowestMs / alone.slowestMs,
        target: null,
      },
      {
        name: `${name}: 99 % of alongside it`,
        value: milliseconds(alongside.p99Ms),
        baseline: milliseconds(alone.p99Ms),
        ratio: alongside.p99Ms / alone.p99Ms,
        target: null,
      },
    ];
  } finally {
    await storage.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface Verified {
  readonly exitCode: number | null;
  readonly output: string;
}

async function succeeded(run: Promise<Verified>): Promise<void> {
  const { exitCode, output } = await run;
  if (exitCode !== 0) throw new Error(`ledger verify ended with ${exitCode}: ${output}`);
}

/** @returns seconds */
async function timed(work: () => Promise<void>): Promise<number> {
  const begunAt = performance.now();
  await work();
  return (performance.now() - begunAt) / 1000;
}

async function runVerify(url: string, dataDir: string, ...options: readonly string[]): Promise<Verified> {
  const env = { PATH: process.env["PATH"], FERMATA_DATA_DIR: dataDir, FERMATA_STORAGE__URL: url };
  const main = repositoryPath("dist", "config", "main.js");
  const child = spawn(process.execPath, [main, "ledger", "verify", "--json", ...options], { env });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => (output += part.toString()));
  const [exitCode] = (await once(child, "close")) as [number | null];
  return { exitCode, output };
}

/** Accounts created one after another, the smallest possible write, until `end`. */
async function writesUntil(
  storage: Open,
  end: Promise<unknown>,
): Promise<{ readonly perSecond: number; readonly slowestMs: number; readonly p99Ms: number }> {
  let isOver = false;
  void end.finally(() => (isOver = true));
  const taken: number[] = [];
  const begunAt = performance.now();
  while (!isOver) {
    const at = performance.now();
    await storage.addAccount();
    taken.push(performance.now() - at);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return {
    perSecond: taken.length / ((performance.now() - begunAt) / 1000),
    slowestMs: Math.max(...taken),
    p99Ms: percentile(taken, 0.99),
  };
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
