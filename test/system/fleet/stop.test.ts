import { join } from "node:path";
import { expect } from "chai";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { createMigratedMysqlDatabase } from "../../support/mysql.js";
import { CallRecording } from "../../support/plugins/recording/call-recording.js";
import type { Fate } from "../../support/plugins/recording/provider.js";
import { RECORDING_PROVIDERS, recordingProviderSettings } from "../../support/plugins/settings.js";
import { type Environment, eventually, type FermataProcess, useSandbox } from "../../support/process.js";
import { openQueueSpace, type QueueSpace } from "../../support/rabbitmq.js";
import { type JobRow, readMysqlRows } from "../../support/chaos/rows.js";
import { CHAOS_SETTINGS } from "../../support/chaos/chaos.js";

const AN_HOUR_MS = 3_600_000;

describe("SIGTERM to a server or a worker", function () {
  this.timeout(60_000);
  const sandbox = useSandbox();

  let database: Awaited<ReturnType<typeof createMigratedMysqlDatabase>>;
  let queues: QueueSpace;
  let dataDir: string;
  let settings: Environment;
  let key: string;

  beforeEach(async () => {
    [database, queues, dataDir] = await Promise.all([
      createMigratedMysqlDatabase(),
      openQueueSpace(),
      sandbox.dataDir(),
    ]);
    settings = {
      ...CHAOS_SETTINGS,
      // Longer than these tests: no lease ends in them.
      FERMATA_JOBS__LEASE_SECONDS: "600",
      FERMATA_JOBS__SHUTDOWN_GRACE_SECONDS: "0.2",
      FERMATA_JOBS__DRAIN_SECONDS: "0",
      FERMATA_JOBS__UNKNOWN_GRACE_SECONDS: "0.5",
      FERMATA_HTTP__PUBLIC_URL: "http://fermata.test",
      FERMATA_STORAGE__URL: database.url,
      FERMATA_QUEUE__URL: queues.url,
      ...recordingProviderSettings(join(dataDir, "recording"), AN_HOUR_MS),
    };
    await sandbox.json(["migrate"], dataDir, settings);
    const account = ["accounts", "create", "caller", "--tier", "pro", "--accept-terms", "--credits", "100"];
    const { id } = await sandbox.json<{ id: string }>(account, dataDir, settings);
    key = (await sandbox.json<{ key: string }>(["keys", "issue", id], dataDir, settings)).key;
  });

  afterEach(async () => {
    await sandbox.clear();
    await Promise.all([database.drop(), queues.clear(...RECORDING_PROVIDERS)]);
  });

  async function aServer(): Promise<{ readonly server: FermataProcess; readonly api: ApiClient }> {
    const server = sandbox.spawn(["serve"], dataDir, settings);
    return { server, api: new ApiClient(await server.listening(), key) };
  }

  /** @param lateMs the duration of a call of this worker */
  async function aWorker(lateMs: number): Promise<FermataProcess> {
    const worker = sandbox.spawn(["work"], dataDir, {
      ...settings,
      ...recordingProviderSettings(join(dataDir, "recording"), lateMs),
    });
    await worker.line(/^working$/m);
    return worker;
  }

  /**
   * One job of each provider, all of them running in this worker. @returns their ids, in the order of {@link
   * RECORDING_PROVIDERS}
   */
  async function underWay(api: ApiClient, worker: FermataProcess, fate: Fate = "late"): Promise<string[]> {
    const ids: string[] = [];
    for (const id of RECORDING_PROVIDERS)
      ids.push(dataOf<{ id: string }>(await api.generate({ model_id: `${id}/${fate}`, prompt: "tides" })).id);
    await eventually("every job is with the provider", async () => (await submissions(worker)).length === ids.length);
    return ids;
  }

  async function submissions(worker: FermataProcess): Promise<string[]> {
    return new CallRecording(join(dataDir, "recording"))
      .read()
      .flatMap(({ pid, jobId }) => (pid === worker.pid ? jobId : []));
  }

  async function jobs(ids: readonly string[]): Promise<JobRow[]> {
    const rows = await readMysqlRows(database.url);
    return ids.map((id) => rows.jobs.find((job) => job.id === id) as JobRow);
  }

  async function outcomes(ids: readonly string[]): Promise<(string | null)[][]> {
    const { attempts } = await readMysqlRows(database.url);
    return ids.map((id) => attempts.filter(({ job_id }) => job_id === id).map(({ outcome }) => outcome));
  }

  async function allEnded(ids: readonly string[]): Promise<boolean> {
    return (await jobs(ids)).every(({ phase }) => phase === "ended");
  }

  it("makes a worker release unfinished jobs at once; the next worker waits for no lease", async () => {
    const { api } = await aServer();
    const first = await aWorker(AN_HOUR_MS);
    const ids = await underWay(api, first);
    expect(await first.stop("SIGTERM"), "calls that cannot be repeated were given up").to.equal(1);
    for (const job of await jobs(ids)) {
      expect(job).to.include({
        status: "processing",
        phase: "submitting",
        lease_owner: null,
        crashes: 0,
        fence: 1,
        attempt: 1,
      });
      expect(job.due_at).to.be.at.most(Date.now());
    }
    expect(await outcomes(ids)).to.deep.equal([["outcome_unknown"], ["outcome_unknown"], ["outcome_unknown"]]);

    const second = await aWorker(0);
    await eventually("every job has ended", () => allEnded(ids));
    expect((await jobs(ids)).map(({ status, credits_charged }) => [status, credits_charged])).to.deep.equal([
      ["failed", 0], // its outcome cannot be found out
      ["completed", 2], // submitted again
      ["completed", 2], // found
    ]);
    expect(await outcomes(ids)).to.deep.equal([["outcome_unknown"], ["outcome_unknown", "completed"], ["completed"]]);
    expect(await submissions(first)).to.have.members(ids);
    expect(await submissions(second)).to.deep.equal([ids[1]]);
    expect(dataOf(await api.get("/api/v1/credits"))).to.include({ available: 96, total_spent: 4 });
    expect(await sandbox.json(["ledger", "verify"], dataDir, settings)).to.include({ ok: true });
  });

  it("makes a running worker take over the stopped worker's jobs", async () => {
    const { api } = await aServer();
    const first = await aWorker(AN_HOUR_MS);
    const ids = await underWay(api, first);
    const owners = new Set((await jobs(ids)).map(({ lease_owner }) => lease_owner));
    const second = await aWorker(0);
    expect(owners.size).to.equal(1);
    expect(await first.stop("SIGTERM")).to.equal(1);
    for (const { lease_owner } of await jobs(ids)) expect(owners).not.to.include(lease_owner ?? "unknown");
    await eventually("every job has ended", () => allEnded(ids));
    expect((await jobs(ids)).map(({ status }) => status)).to.deep.equal(["failed", "completed", "completed"]);
    expect(await submissions(second)).to.deep.equal([ids[1]]);
  });

  it("ends a worker although a plugin ignores its signal; the jobs wait for their leases to end", async () => {
    const { api } = await aServer();
    const worker = await aWorker(AN_HOUR_MS);
    const ids = await underWay(api, worker, "deaf");
    expect(await worker.stop("SIGTERM")).to.equal(1);
    for (const job of await jobs(ids)) {
      expect(job).to.include({ status: "processing", phase: "submitting", fence: 1 });
      expect(job.lease_owner).to.match(/^prc_/);
    }
  });

  it("lets a worker finish calls that cannot be repeated and release the rest to another", async () => {
    settings = { ...settings, FERMATA_JOBS__DRAIN_SECONDS: "60" };
    const { api } = await aServer();
    const first = await aWorker(15_000);
    const ids = await underWay(api, first);
    first.signal("SIGTERM");
    const second = await aWorker(0);
    await eventually("the rest is taken", async () => (await submissions(second)).length > 0);
    expect(first.hasExited).to.equal(false);
    expect(await first.exited).to.deep.equal({ code: 0, signal: null });
    await eventually("every job has ended", () => allEnded(ids));
    for (const job of await jobs(ids)) expect(job).to.include({ status: "completed", credits_charged: 2 });
    // Only the one that may be repeated was.
    expect(await submissions(second)).to.deep.equal([ids[1]]);
    expect(await outcomes(ids)).to.deep.equal([["completed"], ["outcome_unknown", "completed"], ["completed"]]);
  });

  it("makes a server respond to waiting requests; the other server replays the same response", async () => {
    const [one, other] = await Promise.all([aServer(), aServer()]);
    const order = { model_id: "recording/direct", prompt: "tides" };
    const waiting = one.api.generate(order, { "Idempotency-Key": "tides", Prefer: "wait=50" });
    await eventually("the job", async () => (await readMysqlRows(database.url)).jobs.length === 1);
    expect(await one.server.stop("SIGTERM")).to.equal(0);
    const response = await waiting;
    expect([response.status, dataOf(response)["status"]]).to.deep.equal([202, "queued"]);
    const again = await other.api.generate(order, { "Idempotency-Key": "tides" });
    expect([again.status, again.headers.get("Idempotent-Replayed"), again.text]).to.deep.equal([
      202,
      "true",
      response.text,
    ]);
    await aWorker(0);
    const { id } = dataOf<{ id: string }>(response);
    await eventually("every job has ended", () => allEnded([id]));
    expect(dataOf(await other.api.get(`/api/v1/generations/${id}`))).to.include({ status: "completed" });
  });
});
