import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { repositoryPath } from "../support/repository.js";
import { below, type Bench, type Figure, median, milliseconds } from "./figures.js";

const ROUNDS = 11;
const COMMAND_MAX_MS = 700;

const COMMANDS: readonly (readonly string[])[] = [["--help"], ["models", "list"], ["accounts", "list"]];

export const commands: Bench = {
  name: "commands",
  compares: "commands with a process of commander, knex and better-sqlite3 that lists accounts",
  async run() {
    const dataDir = await mkdtemp(join(tmpdir(), "fermata-bench-"));
    try {
      await time("config/main.js", ["migrate"], dataDir);
      const ours = COMMANDS.map((): number[] => []);
      const bare: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        for (const [index, words] of COMMANDS.entries())
          ours[index]?.push(await time("config/main.js", words, dataDir));
        bare.push(await time("test/bench/servers/bare-command.js", [dataDir], dataDir));
      }
      return COMMANDS.map((words, index) => figureOf(words, median(ours[index] ?? []), median(bare)));
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  },
};

/** @returns milliseconds from the start of the process to its end */
async function time(file: string, words: readonly string[], dataDir: string): Promise<number> {
  const env = { PATH: process.env["PATH"], FERMATA_DATA_DIR: dataDir };
  const begunAt = performance.now();
  await promisify(execFile)(process.execPath, [repositoryPath("dist", ...file.split("/")), ...words], {
    env,
  });
  return performance.now() - begunAt;
}

function figureOf(words: readonly string[], ms: number, bareMs: number): Figure {
  return {
    name: `commands: ${words.join(" ")}`,
    value: milliseconds(ms),
    baseline: milliseconds(bareMs),
    ratio: ms / bareMs,
    target: below(ms, COMMAND_MAX_MS, " ms"),
  };
}
