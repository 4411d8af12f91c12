import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { eventually, useSandbox } from "../../support/process.js";
import { repositoryPath } from "../../support/repository.js";

/** The promised time between a signal and the exit. */
const STOP_MAX_MS = 10_000;

describe("A stop of `npm start`", function () {
  this.timeout(120_000);
  const sandbox = useSandbox();
  let npm: ChildProcess | null = null;
  // It leads a group of its own, which a server that was left behind belongs to.
  afterEach(() => {
    try {
      process.kill(-(npm?.pid as number), "SIGKILL");
    } catch {
      // All of them have ended.
    }
  });

  for (const signal of ["SIGTERM", "SIGINT"] as const)
    it(`by ${signal} to npm alone stops the server, and frees its port`, async () => {
      const env = { ...process.env, FERMATA_DATA_DIR: await sandbox.dataDir(), FERMATA_HTTP__PORT: "0" };
      const started = spawn("npm", ["start"], { cwd: repositoryPath(), env, detached: true });
      npm = started;
      let output = "";
      for (const stream of [started.stdout, started.stderr])
        stream.setEncoding("utf8").on("data", (text: string) => (output += text));
      const [, port] = await eventually("listening", () => /^listening on \S+:(\d+)$/m.exec(output));

      const closed = once(started, "close", { signal: AbortSignal.timeout(STOP_MAX_MS) });
      started.kill(signal);
      // Its pipes are closed when the server has ended too.
      await closed;
      expect(output).to.include("Stopping");
      const [refused] = (await once(connect(Number(port), "127.0.0.1"), "error")) as [NodeJS.ErrnoException];
      expect(refused.code).to.equal("ECONNREFUSED");
    });
});
