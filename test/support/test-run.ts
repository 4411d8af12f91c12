import { execFileSync, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { appendFile, readFile } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { REPOSITORY } from "./repository.js";
import type { Run } from "./runs.js";

export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  /** Title, file and message of what failed. */
  readonly failures: readonly string[];
}

export interface TestRun {
  readonly outcome: Promise<Outcome>;
  /** Ends it with all its processes, as a failure for this reason. Has no effect on one that has ended. */
  end(reason: string): void;
}

export interface TestRunFiles {
  /** Gets what the run prints. */
  readonly output: string;
  /** Gets its figures; see `reporter.cjs`. */
  readonly result: string;
}

const MEMORY_LINES = 5;
const LAST_LINES = 3;

/**
 * Runs mocha with these arguments in a process group of its own. A run that prints nothing for `silentMs` is ended:
 * mocha's limit of a test does not end one that computes for ever, or a machine that stands still. What all processes
 * do at that time is below its output.
 */
export function startRun(
  { title, env }: Pick<Run, "title" | "env">,
  args: readonly string[],
  { output, result }: TestRunFiles,
  silentMs: number,
): TestRun {
  const child = spawn(process.execPath, args, {
    cwd: REPOSITORY,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env, FERMATA_TEST_RESULT: result },
  });
  const exited = new Promise<number | null>((resolve, reject) => child.once("error", reject).once("exit", resolve));
  const streams = [child.stdout, child.stderr];
  let ended: { readonly reason: string; readonly machine: string } | null = null;
  const end = (reason: string): void => {
    if (ended !== null || child.pid === undefined) return;
    ended = { reason, machine: stateOfMachine() };
    killGroup(child.pid);
    // A process that left the group may hold them.
    for (const stream of streams) stream.destroy();
  };
  const timer = setTimeout(() => end(`printed nothing for ${silentMs / 1000} s`), silentMs);
  for (const stream of streams) stream.on("data", () => timer.refresh());

  const outcome = async (): Promise<Outcome> => {
    const file = createWriteStream(output);
    await Promise.all(
      streams.map((stream) => pipeline(stream, file, { end: false }).catch(unless(() => ended !== null))),
    );
    clearTimeout(timer);
    await new Promise<void>((resolve) => file.end(resolve));
    const code = await exited;
    if (ended === null) return outcomeOf(title, code, await readFile(result, "utf8").catch(() => null));
    const last = (await readFile(output, "utf8")).trimEnd().split("\n").slice(-LAST_LINES);
    await appendFile(output, `\n== ${title}: ${ended.reason}\n${ended.machine}`);
    return { passed: 0, failed: 1, failures: [`${title}: ${ended.reason}, after: ${last.join(" / ")}`] };
  };
  return { outcome: outcome(), end };
}

/** A run that crashed has no result; one may fail outside its tests. Each counts as a failure. */
function outcomeOf(title: string, code: number | null, text: string | null): Outcome {
  if (text === null) return { passed: 0, failed: 1, failures: [`${title}: ended without a result, with code ${code}`] };
  const [figures = "", ...failures] = text.trim().split("\n");
  const [passed = 0, failed = 0] = figures.split(" ").map(Number);
  if (failed > 0 || code === 0) return { passed, failed, failures };
  return { passed, failed: 1, failures: [`${title}: failed outside its tests, with code ${code}`] };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

const unless =
  (isExpected: () => boolean) =>
  (error: unknown): void => {
    if (!isExpected()) throw error;
  };

function stateOfMachine(): string {
  const shown = (command: string, ...args: string[]): string => {
    try {
      return execFileSync(command, args, { encoding: "utf8", timeout: 10_000 });
    } catch (error) {
      return `${command}: ${error instanceof Error ? error.message : String(error)}\n`;
    }
  };
  const memory = shown("head", "-n", String(MEMORY_LINES), "/proc/meminfo");
  return [
    shown("uptime"),
    memory,
    shown("df", "-h"),
    shown("ps", "-eo", "pid,ppid,stat,etime,time,wchan:20,args"),
  ].join("");
}
