import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Concerned } from "./guard.js";

const TEST_MS = 20_000;

export type TestRun =
  | { readonly state: "passed" }
  /** @param by the test that failed first */
  | { readonly state: "failed"; readonly by: string }
  | { readonly state: "timed_out" }
  /** It ended without having run a test. */
  | { readonly state: "broken"; readonly output: string };

interface Report {
  readonly stats: { readonly passes: number };
  readonly failures: readonly { readonly fullTitle: string }[];
}

/** Runs test files from the sources, until the first failure. */
export async function runTests(root: string, { tests, grep }: Concerned, limitMs: number): Promise<TestRun> {
  const report = join(root, "guards-report.json");
  rmSync(report, { force: true });
  const args = ["--import", "tsx/esm", "node_modules/mocha/bin/mocha.js", "--no-config", "--bail", "--exit"];
  const reporting = ["--reporter", "json", "--reporter-option", `output=${report}`];
  const others = [
    "--timeout",
    String(TEST_MS),
    "--require",
    "./test/support/setup.ts",
    ...(grep === undefined ? [] : ["--grep", grep]),
  ];
  const child = spawn(process.execPath, [...args, ...reporting, ...others, ...tests], { cwd: root, detached: true });
  const kill = (): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
  };
  // Before the copy of the sources is removed.
  process.prependOnceListener("exit", kill);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output = (output + text).slice(-2_000)));
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    kill();
  }, limitMs);
  await new Promise((resolve) => child.once("exit", resolve));
  process.off("exit", kill);
  clearTimeout(timer);
  if (isLate) return { state: "timed_out" };
  let found: Report;
  try {
    found = JSON.parse(readFileSync(report, "utf8")) as Report;
  } catch {
    return { state: "broken", output };
  }
  const [failure] = found.failures;
  if (failure !== undefined) return { state: "failed", by: failure.fullTitle };
  return found.stats.passes > 0 ? { state: "passed" } : { state: "broken", output };
}
