import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { repositoryPath } from "../support/repository.js";
import { below, type Bench, type Figure, median, milliseconds } from "./figures.js";

const ROUNDS = 7;
const IDLE_MS = 2_000;
const RSS_MAX_MB = 120;
const FIRST_RESPONSE_MAX_MS = 800;

/** Options of Node, a file in dist, its argument. */
type Command = readonly [options: readonly string[], file: string, argument: string];

interface Started {
  readonly firstResponseMs: number;
  readonly rssMb: number;
}

export const start: Bench = {
  name: "start",
  compares:
    "a warm `fermata start` with a process of bare Express and better-sqlite3: memory when idle, time to the " +
    "first response",
  async run() {
    if (!existsSync(repositoryPath("dist", "config", "main.js")))
      throw new Error("The benchmark of the start needs what `npm run build` makes.");
    const dataDir = await mkdtemp(join(tmpdir(), "fermata-bench-"));
    try {
      const fermata: Command = [[], "config/main.js", "start"]; // as `npm start`
      const bareProcess: Command = [[], "test/bench/servers/bare-prepared.js", dataDir];
      const key = await firstStart(fermata, dataDir);
      const ours: Started[] = [];
      const bare: Started[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        ours.push(await measure(fermata, dataDir, key));
        bare.push(await measure(bareProcess, dataDir, key));
      }
      return figuresOf(ours, bare);
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  },
};

/** Creates the data directory as a first run does. @returns the key of the account `demo` */
async function firstStart(command: Command, dataDir: string): Promise<string> {
  const child = run(command, dataDir);
  await printed(child, /Its API key is in /);
  const key = (await readFile(join(dataDir, "demo.key"), "utf8")).trim();
  await stop(child);
  return key;
}

async function measure(command: Command, dataDir: string, key: string): Promise<Started> {
  const begunAt = performance.now();
  const child = run(command, dataDir);
  const url = (await printed(child, /listening on (\S+)/)).replace("listening on ", "");
  const response = await fetch(`${url}/api/v1/credits`, { headers: { Authorization: `Bearer ${key}` } });
  const firstAnswerMs = performance.now() - begunAt;
  if (response.status !== 200) throw new Error(`Expected 200, got ${response.status}: ${await response.text()}`);
  await response.text();
  await setTimeout(IDLE_MS);
  const rssMb = await residentMb(child);
  await stop(child);
  return { firstResponseMs: firstAnswerMs, rssMb };
}

function run([options, file, argument]: Command, dataDir: string): ChildProcess {
  const env = {
    PATH: process.env["PATH"],
    FERMATA_DATA_DIR: dataDir,
    FERMATA_HTTP__PORT: "0",
    FERMATA_LOGS__LEVEL: "error",
  };
  const words = [...options, repositoryPath("dist", ...file.split("/")), argument];
  return spawn(process.execPath, words, { env, stdio: ["ignore", "pipe", "inherit"] });
}

async function printed(child: ChildProcess, pattern: RegExp): Promise<string> {
  let text = "";
  for await (const chunk of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    text += String(chunk);
    const found = pattern.exec(text);
    if (found !== null) return found[0];
  }
  throw new Error(`The process ended without printing ${String(pattern)}: ${text}`);
}

async function residentMb(child: ChildProcess): Promise<number> {
  const { stdout } = await promisify(execFile)("ps", ["-o", "rss=", "-p", String(child.pid)]);
  return (Number(stdout) * 1024) / 1_000_000;
}

async function stop(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

function figuresOf(ours: readonly Started[], bare: readonly Started[]): Figure[] {
  const rss = [ours, bare].map((runs) => median(runs.map(({ rssMb }) => rssMb)));
  const first = [ours, bare].map((runs) => median(runs.map(({ firstResponseMs: firstAnswerMs }) => firstAnswerMs)));
  return [
    {
      name: "start: memory when idle (RSS)",
      value: `${rss[0]?.toFixed(0)} MB`,
      baseline: `${rss[1]?.toFixed(0)} MB`,
      ratio: (rss[0] ?? 0) / (rss[1] ?? 0),
      target: below(rss[0] ?? 0, RSS_MAX_MB, " MB"),
    },
    {
      name: "start: to the first response",
      value: milliseconds(first[0] ?? 0),
      baseline: milliseconds(first[1] ?? 0),
      ratio: (first[0] ?? 0) / (first[1] ?? 0),
      target: below(first[0] ?? 0, FIRST_RESPONSE_MAX_MS, " ms"),
    },
  ];
}
