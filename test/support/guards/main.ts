/**
 * Removes one guard of the code after another, in a copy of the sources, and runs the tests that concern it: each must
 * fail. Run without the guard removed, they must pass.
 *
 *     npm run test:guards                    all
 *     npm run test:guards -- fence webhooks  those whose name or file has one of these words
 *     npm run test:guards -- --list          names them
 *     npm run test:guards -- --trusted       does not run the tests without a change first: they have just passed
 */
import { mutantsOfAll } from "./all.js";
import type { Concerned } from "./guard.js";
import { runTests } from "./run-tests.js";
import { SourceCopy } from "./source-copy.js";

const LIMIT_MS = Number(process.env["FERMATA_TEST_GUARD_SECONDS"] ?? 180) * 1000;

const isTrusted = process.argv.includes("--trusted");
const words = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const all = mutantsOfAll();
const chosen = all.filter(
  ({ name, file }) => words.length === 0 || words.some((word) => `${name} ${file}`.includes(word)),
);
function say(words: string): void {
  process.stdout.write(`${words}\n`);
}

/** Sets of tests that pass without a change. */
const passed = new Set<string>();
if (process.argv.includes("--list")) {
  for (const { name, file } of chosen) say(`${name} (${file})`);
} else {
  process.exitCode = (await runAll()) ? 0 : 1;
}

async function runAll(): Promise<boolean> {
  const copy = new SourceCopy();
  process.once("exit", () => copy.remove());
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
  const counts = { killed: 0, timedOut: 0, survived: 0 };
  for (const [index, mutant] of chosen.entries()) {
    if (!(await passesUnchanged(copy, mutant))) return false;
    const putBack = copy.apply(mutant);
    const run = await runTests(copy.root, mutant, LIMIT_MS);
    putBack();
    const place = `${index + 1}/${chosen.length} ${mutant.name} (${mutant.file})`;
    if (run.state === "failed") {
      counts.killed++;
      say(`killed    ${place}\n          by: ${run.by}`);
    } else if (run.state === "timed_out") {
      counts.timedOut++;
      say(`killed    ${place}\n          by the time limit`);
    } else {
      counts.survived++;
      say(`SURVIVED  ${place}${run.state === "broken" ? `: no test ran\n${run.output}` : ""}`);
    }
  }
  const { killed, timedOut, survived } = counts;
  say(`${chosen.length} guards: ${killed} killed, ${timedOut} by the time limit, ${survived} survived`);
  return survived === 0;
}

/** A test that fails anyway would kill every mutant. */
async function passesUnchanged(copy: SourceCopy, { tests, grep = "" }: Concerned): Promise<boolean> {
  const set = [...tests, grep].join(" ");
  if (isTrusted || passed.has(set)) return true;
  const run = await runTests(copy.root, { tests, ...(grep === "" ? {} : { grep }) }, LIMIT_MS);
  if (run.state === "passed") passed.add(set);
  else say(`Without any change these tests do not pass: ${set}: ${JSON.stringify(run)}`);
  return run.state === "passed";
}
