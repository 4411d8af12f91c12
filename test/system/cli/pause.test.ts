import { expect } from "chai";
import type { CheckResult } from "../../../core/ports/self-check.js";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { type Environment, eventually, useSandbox } from "../../support/process.js";

interface Shown {
  readonly status: string;
  readonly attempts: readonly object[];
}

describe("fermata jobs pause and fermata jobs resume", function () {
  this.timeout(90_000);
  const sandbox = useSandbox();
  let dataDir: string;
  let key: string;
  beforeEach(async () => {
    dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    const create = ["accounts", "create", "alice", "--tier", "pro", "--accept-terms", "--credits", "100"];
    const { id } = await sandbox.json<{ id: string }>(create, dataDir);
    key = (await sandbox.json<{ key: string }>(["keys", "issue", id], dataDir)).key;
  });

  const json = <T = Record<string, unknown>>(...args: readonly string[]): Promise<T> => sandbox.json<T>(args, dataDir);
  const attemptsOf = async (id: string): Promise<number> => (await json<Shown>("jobs", "show", id)).attempts.length;
  const accepted = async (url: string): Promise<string> => {
    const response = await new ApiClient(url, key).generate({
      model_id: "synth/instrumental",
      prompt: "rain [[fail:failed]]",
      duration: 5,
    });
    expect([response.status, dataOf(response).status]).to.deep.equal([202, "queued"]);
    return dataOf<{ id: string }>(response).id;
  };
  const ended = (id: string): Promise<unknown> =>
    eventually("ended", async () => (await json<Shown>("jobs", "show", id)).status === "failed");
  /** What doctor says, and the code it exits with. */
  const doctor = async (env: Environment = {}): Promise<unknown> => {
    const { code, json: document } = await sandbox.command(["doctor", "--json"], dataDir, env);
    const found = document<{ checks: readonly CheckResult[] }>().checks.find(({ name }) => name === "submissions");
    return [code, found?.result, found?.fix];
  };

  it("hold back what a running server accepts, say so in doctor, and let it go on", async () => {
    const paused = await json("jobs", "pause");
    expect(Object.keys(paused)).to.deep.equal(["submissions", "changed_at"]);
    expect(paused["submissions"]).to.equal("paused");
    expect(paused["changed_at"]).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(await json("jobs", "pause"), "a second time changes nothing").to.deep.equal(paused);
    expect(await doctor()).to.deep.equal([0, "warning", "Run `npm run -s fermata -- jobs resume`."]);

    const server = sandbox.spawn(["start"], dataDir);
    const id = await accepted(await server.listening());
    const isSaid = (): boolean => server.stderr.includes("Submissions are paused");
    await eventually("the server says that submissions are paused", isSaid);
    expect(await attemptsOf(id)).to.equal(0);

    expect(await json("jobs", "resume")).to.include({ submissions: "active" });
    await ended(id);
    expect(await attemptsOf(id)).to.equal(1);
    expect(await doctor()).to.deep.equal([0, "ok", null]);
    expect(await server.stop()).to.equal(0);
  });

  it("are heeded by a server that runs already, within seconds", async () => {
    const server = sandbox.spawn(["start"], dataDir);
    const url = await server.listening();
    await ended(await accepted(url));
    const { stdout } = await sandbox.command(["jobs", "pause"], dataDir);
    expect(stdout).to.match(
      /^Submissions are paused in every process, within seconds\..*\nGo on with `npm run -s fermata -- jobs resume`\.\n$/,
    );
    await eventually("the server says that submissions are paused", () =>
      server.stderr.includes("Submissions are paused"),
    );
    const id = await accepted(url);
    expect((await sandbox.command(["jobs", "resume"], dataDir)).stdout).to.match(
      /^Submissions are active in every process/,
    );
    await ended(id);
    expect(await server.stop()).to.equal(0);
  });

  it("let a server go on that its settings started as paused", async () => {
    const settings = { FERMATA_JOBS__SUBMISSIONS: "paused" };
    const fix = "Run `npm run -s fermata -- jobs resume`, and set jobs.submissions to active before the next start.";
    expect(await doctor(settings)).to.deep.equal([0, "warning", fix]);
    const server = sandbox.spawn(["start"], dataDir, settings);
    const id = await accepted(await server.listening());
    await eventually("the server says that submissions are paused", () =>
      server.stderr.includes("Submissions are paused"),
    );
    expect(await attemptsOf(id)).to.equal(0);
    await json("jobs", "resume");
    await ended(id);
    expect(await server.stop()).to.equal(0);
  });
});
