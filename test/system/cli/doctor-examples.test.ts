import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import type { CheckResult } from "../../../core/ports/self-check.js";
import { ApiClient } from "../../support/api-client.js";
import { readDockerfile } from "../../support/examples.js";
import { useSandbox } from "../../support/process.js";
import { repositoryPath } from "../../support/repository.js";

const run = promisify(execFile);

describe("An installation from config/embedded.yaml", () => {
  const sandbox = useSandbox();
  const env = { FERMATA_CONFIG: repositoryPath("config", "embedded.yaml") };

  it("starts, creates the first account, and leaves the doctor nothing to report", async () => {
    const dataDir = await sandbox.dataDir();
    const started = sandbox.call(["start"], dataDir, env);
    const url = await started.listening();
    expect(started.stdout).to.include("The account `demo` was created");
    expect((await new ApiClient(url, null).get("/readyz")).status).to.equal(200);
    const { checks } = await sandbox.json<{ checks: readonly CheckResult[] }>(["doctor"], dataDir, env);
    expect(checks.filter(({ result }) => result === "failed")).to.deep.equal([]);
    expect(checks.map(({ name }) => name)).to.include.members(["sqlite mode", "schema"]);
    expect(await started.stop()).to.equal(0);
  });

  it("is healthy to the image's health check while it runs, and not afterwards", async () => {
    const [, probe = "[]"] =
      /CMD (\[.*\])$/.exec(readDockerfile().find(({ name }) => name === "HEALTHCHECK")?.rest ?? "") ?? [];
    const [program, ...args] = JSON.parse(probe) as string[];
    const started = sandbox.call(["serve"], await migrated(), env);
    const { port } = new URL(await started.listening());
    const check = (): Promise<unknown> =>
      run(program as string, args, { env: { ...process.env, FERMATA_HTTP__PORT: port } });
    await check();
    await started.stop();
    const refusal = await check().then(
      () => null,
      (error: { readonly code: number }) => error.code,
    );
    expect(refusal).to.equal(1);
  });

  async function migrated(): Promise<string> {
    const dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir, env);
    return dataDir;
  }
});
