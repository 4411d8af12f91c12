import { join } from "node:path";
import { expect } from "chai";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { eventually, filesUnder, Sandbox } from "../../support/process.js";
import { readRows } from "../../support/chaos/rows.js";

interface ShownJob {
  readonly id: string;
  readonly status: string;
  readonly attempts: readonly object[];
  readonly timeline: { readonly events: readonly { readonly id: string }[]; readonly outlook: object };
  readonly [name: string]: unknown;
}

const GOES_ON =
  "its provider has it and has not confirmed a cancellation; it runs to its end, and is refunded if it fails.";

describe("fermata jobs", function () {
  this.timeout(90_000);
  let sandbox: Sandbox;
  let dataDir: string;
  let account: string;
  let key: string;
  beforeEach(async () => {
    sandbox = new Sandbox();
    dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    const create = ["accounts", "create", "alice", "--tier", "pro", "--accept-terms", "--credits", "100"];
    account = (await sandbox.json<{ id: string }>(create, dataDir)).id;
    key = (await sandbox.json<{ key: string }>(["keys", "issue", account], dataDir)).key;
  });
  afterEach(() => sandbox.clear());

  const json = <T = ShownJob>(...args: readonly string[]): Promise<T> => sandbox.json<T>(args, dataDir);
  const listed = async (...args: readonly string[]): Promise<string[]> =>
    (await json<{ jobs: ShownJob[] }>("jobs", "list", ...args)).jobs.map(({ id }) => id);
  const accepted = async (url: string, prompt: string): Promise<string> =>
    dataOf<{ id: string }>(
      await new ApiClient(url, key).generate({ model_id: "synth/instrumental", prompt, duration: 5 }),
    ).id;

  it("lists jobs newest first, by status and by account, no more than asked for", async () => {
    const url = await sandbox.call(["serve"], dataDir).listening();
    const first = await accepted(url, "one");
    const second = await accepted(url, "two");
    expect(await listed()).to.deep.equal([second, first]);
    expect(await listed("--limit", "1")).to.deep.equal([second]);
    expect(await listed("--status", "queued", "--account", account)).to.deep.equal([second, first]);
    expect(await listed("--status", "failed")).to.deep.equal([]);
    expect(await listed("--provider", "synth", "--limit", "1")).to.deep.equal([second]);
    expect(await listed("--provider", "fal")).to.deep.equal([]);
    const other = await sandbox.json<{ id: string }>(["accounts", "create", "bob", "--tier", "pro"], dataDir);
    expect(await listed("--account", other.id)).to.deep.equal([]);
    const { stdout } = await sandbox.command(["jobs", "list"], dataDir);
    expect(stdout).to.match(new RegExp(`^${second} +queued +music_synth_full +${account} +\\S+Z\n${first} `));
    expect((await sandbox.command(["jobs", "list", "--status", "failed"], dataDir)).stdout).to.equal("No jobs.\n");
  });

  it("shows a job as the API does, with its id and every attempt", async () => {
    const url = await sandbox.call(["start"], dataDir).listening();
    const id = await accepted(url, "sea [[fail:content_rejected]]");
    const api = new ApiClient(url, key);
    await eventually("failed", async () => dataOf(await api.get(`/api/v1/jobs/${id}`)).status === "failed");
    const { attempts, id: shownId, timeline, ...job } = await json("jobs", "show", id);
    expect(shownId).to.equal(id);
    expect(job).to.deep.equal(dataOf(await api.get(`/api/v1/jobs/${id}`)));
    expect(attempts).to.have.length(1);
    expect(attempts[0]).to.include({ number: 1, provider: "synth", outcome: "content_rejected" });
    const members = [
      "id",
      "number",
      "provider",
      "model",
      "state",
      "started_at",
      "accepted_at",
      "deadline_at",
      "ended_at",
    ];
    expect(Object.keys(attempts[0] ?? {})).to.deep.equal([
      ...members,
      "outcome",
      "message",
      "cost",
      "billable",
      "loss",
    ]);
    expect(timeline.events.map(({ id: event }) => event)).to.deep.equal([
      "accepted",
      "attempt.1.started",
      "attempt.1.failed",
      "refunded",
      "failed",
    ]);
    expect(timeline.outlook).to.include({ state: "ended", ends_at: null });
    const { stdout } = await sandbox.command(["jobs", "show", id], dataDir);
    expect(stdout)
      .to.match(/^status +failed$/m)
      .and.to.match(/^error +invalid_request: /m)
      .and.to.match(/^\S+Z +accepted; 10 credits reserved\n\S+Z +attempt 1 at synth, synth\/instrumental$/m)
      .and.to.match(/^\S+Z +attempt 1 at synth refused \(content_rejected\): .+\n\S+Z +10 credits refunded$/m);
  });

  it("cancels a queued job and refunds it; a worker that comes later leaves it alone", async () => {
    const url = await sandbox.call(["serve"], dataDir).listening();
    const id = await accepted(url, "never heard");
    expect(dataOf(await new ApiClient(url, key).get("/api/v1/credits"))).to.include({ available: 90 });
    const cancelled = await json("jobs", "cancel", id);
    expect(cancelled).to.include({ id, outcome: "cancelled", status: "failed", credits_charged: 0 });
    expect(cancelled.error).to.include({
      code: "generation_failed",
      message: "The job was cancelled.",
    });
    const api = new ApiClient(url, key);
    expect(dataOf(await api.get("/api/v1/credits"))).to.deep.equal({
      available: 100,
      monthly_credits: 100,
      pack_credits: 0,
      total_spent: 0,
    });
    expect(dataOf(await api.get(`/api/v1/generations/${id}`))).to.include({ status: "failed", credits_charged: 0 });

    const after = await accepted(url, "heard [[fail:failed]]");
    const worker = sandbox.call(["work"], dataDir);
    await eventually("the next job is done", async () => (await json("jobs", "show", after)).status === "failed");
    expect(await worker.stop()).to.equal(0);
    expect((await json("jobs", "show", id)).attempts).to.deep.equal([]);
  });

  it("reports of a running job that its provider goes on with it: it completes and is paid", async () => {
    const server = sandbox.call(["start"], dataDir);
    const url = await server.listening();
    const id = await accepted(url, "goes on [[delay:0.7]]");
    await eventually("running", () => readRows(dataDir).attempts.length === 1);
    const { code, stdout } = await sandbox.command(["jobs", "cancel", id], dataDir);
    expect([code, stdout]).to.deep.equal([0, `${id}: ${GOES_ON}\n`]);
    expect((await sandbox.command(["jobs", "show", id], dataDir)).stdout).to.match(/^cancellation requested +\S+Z$/m);
    await eventually("completed", async () => (await json("jobs", "show", id)).status === "completed");
    expect(await json("jobs", "cancel", id)).to.include({ outcome: "ended", status: "completed" });
    expect(dataOf(await new ApiClient(url, key).get("/api/v1/credits"))).to.include({ total_spent: 10 });
    expect(await server.stop()).to.equal(0);
  });

  it("ends a running job by force and refunds it; a later result changes nothing and leaves no file", async () => {
    const server = sandbox.call(["start"], dataDir);
    const url = await server.listening();
    const id = await accepted(url, "too late [[delay:0.7]]");
    await eventually("running", () => readRows(dataDir).attempts.length === 1);
    await json("jobs", "cancel", id, "--force");
    const api = new ApiClient(url, key);
    const ended = dataOf(await api.get(`/api/v1/jobs/${id}`));
    expect(ended).to.include({ status: "failed", credits_charged: 0 });
    expect(dataOf(await api.get("/api/v1/credits"))).to.include({ available: 100, total_spent: 0 });
    expect(await server.stop(), "a stop waits for the worker to bring its result").to.equal(0);

    const { attempts: _, id: __, timeline: ___, ...shown } = await json("jobs", "show", id);
    expect(shown).to.deep.equal(ended);
    expect(readRows(dataDir).tracks).to.deep.equal([]);
    expect(await filesUnder(join(dataDir, "audio"))).to.deep.equal([]);
    expect(await json<object>("ledger", "verify")).to.include({ ok: true });
    const { code, stdout } = await sandbox.command(["jobs", "cancel", id], dataDir);
    expect([code, stdout]).to.deep.equal([0, `${id}: cancelled; its credits are refunded.\n`]);
  });

  it("refuses jobs and accounts that do not exist", async () => {
    for (const command of ["show", "cancel"]) {
      const { code, stdout, stderr } = await sandbox.command(["jobs", command, "job_unknown"], dataDir);
      expect([code, stdout, stderr]).to.deep.equal([1, "", "There is no job job_unknown.\n"]);
    }
    const { code, stderr } = await sandbox.command(["jobs", "list", "--account", "acct_unknown"], dataDir);
    expect([code, stderr]).to.deep.equal([1, "There is no account acct_unknown.\n"]);
  });
});

describe("fermata serve and fermata work", function () {
  this.timeout(90_000);
  const sandbox = new Sandbox();
  afterEach(() => sandbox.clear());

  it("share one data directory as two processes: what one accepts, the other makes", async () => {
    const dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    const create = ["accounts", "create", "alice", "--tier", "pro", "--accept-terms", "--credits", "100"];
    const { id: account } = await sandbox.json<{ id: string }>(create, dataDir);
    const { key } = await sandbox.json<{ key: string }>(["keys", "issue", account], dataDir);
    const work = sandbox.spawn(["work"], dataDir);
    const serve = sandbox.spawn(["serve"], dataDir);
    await work.line(/^working$/m);
    const api = new ApiClient(await serve.listening(), key);
    const body = { model_id: "synth/instrumental", prompt: "two hands", duration: 5 };
    const created = dataOf<{ id: string; status: string }>(await api.generate(body, { Prefer: "wait=20" }));
    expect(created.status).to.equal("completed");
    const { tracks } = dataOf<{ tracks: { play_url: string }[] }>(await api.get(`/api/v1/generations/${created.id}`));
    const played = await fetch(tracks[0]?.play_url ?? "");
    expect((await played.arrayBuffer()).byteLength).to.be.above(100_000);
    expect(await Promise.all([serve.stop(), work.stop()])).to.deep.equal([0, 0]);
    expect(work.stdout).to.equal("working\n");
  });
});
