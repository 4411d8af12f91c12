import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type Outcome, startRun, type TestRun } from "../support/test-run.js";

const QUIET_MS = 2_000;
const LONG_MS = 60_000;

describe("A run of test files", () => {
  let folder: string;
  const paths = (): { output: string; result: string } => ({
    output: join(folder, "output"),
    result: join(folder, "result"),
  });
  /** Of a program in place of mocha. */
  const start = async (program: string, silentMs: number): Promise<TestRun> => {
    const file = join(folder, "program.mjs");
    await writeFile(file, program);
    return startRun({ title: "some tests", env: {} }, [file], paths(), silentMs);
  };
  const outcomeOf = async (program: string, silentMs = LONG_MS): Promise<Outcome> =>
    (await start(program, silentMs)).outcome;
  const report = (text: string, code = 0): string =>
    `import { writeFileSync } from "node:fs";
    writeFileSync(process.env.FERMATA_TEST_RESULT, ${JSON.stringify(text)});
    process.exitCode = ${code};`;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "fermata-run-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("has the figures of its reporter, and a line for each failure", async () => {
    expect(await outcomeOf(report("3 0\n"))).to.deep.equal({ passed: 3, failed: 0, failures: [] });
    const failed = { passed: 2, failed: 1, failures: ["one: broke"] };
    expect(await outcomeOf(report("2 1\none: broke\n", 1))).to.deep.equal(failed);
  });

  it("that ends without figures, or badly with good ones, has failed", async () => {
    const failure = (what: string): Outcome => ({ passed: 0, failed: 1, failures: [`some tests: ${what}`] });
    expect(await outcomeOf("process.exit(7)")).to.deep.equal(failure("ended without a result, with code 7"));
    const figures = await outcomeOf(report("4 0\n", 3));
    expect(figures).to.deep.equal({ ...failure("failed outside its tests, with code 3"), passed: 4 });
  });

  it("that computes for ever is ended, and says where it was and what the machine did", async () => {
    const { failed, failures } = await outcomeOf('process.stdout.write("✔ one\\n", () => { for (;;); });', QUIET_MS);
    expect({ failed, failures }).to.deep.equal({
      failed: 1,
      failures: ["some tests: printed nothing for 2 s, after: ✔ one"],
    });
    const output = await readFile(paths().output, "utf8");
    expect(output).to.match(/^✔ one\n\n== some tests: printed nothing for 2 s\n/);
    expect(output)
      .to.match(/load average/)
      .and.match(/MemAvailable/)
      .and.match(/program\.mjs/);
  });

  it("goes on as long as it prints something", async () => {
    const program = `${report("5 0\n")}
    let left = 15;
    const timer = setInterval(() => {
      console.log("one more");
      if (--left === 0) clearInterval(timer);
    }, ${QUIET_MS / 10});`;
    expect(await outcomeOf(program, QUIET_MS)).to.deep.equal({ passed: 5, failed: 0, failures: [] });
  });

  it("whose process has ended, but not one in a group of its own that it started, is ended too", async () => {
    const holder = `import { spawn } from "node:child_process";
    const held = spawn("sleep", ["30"], { stdio: "inherit", detached: true });
    console.log(held.pid);
    process.exit(0);`;
    const { failures } = await outcomeOf(holder, QUIET_MS);
    const [, pid] = /after: (\d+)$/.exec(failures[0] ?? "") ?? [];
    expect(failures).to.deep.equal([`some tests: printed nothing for 2 s, after: ${pid}`]);
    process.kill(Number(pid));
  });

  it("can be ended with its processes, for a reason", async () => {
    const run = await start('setInterval(() => console.log("runs"), 10);', LONG_MS);
    run.end("was ended by SIGTERM");
    run.end("was ended twice");
    const { failures } = await run.outcome;
    expect(failures).to.have.length(1);
    expect(failures[0]).to.match(/^some tests: was ended by SIGTERM, after:/);
  });
});
