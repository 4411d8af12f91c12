import { connect } from "node:net";
import { once } from "node:events";
import { expect } from "chai";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { eventually, type Environment, type FermataProcess, useSandbox } from "../../support/process.js";

/** The promised time between a signal and the exit. */
const STOP_MAX_MS = 10_000;

interface JobReport {
  readonly status: string;
  readonly attempts: readonly { readonly outcome: string | null }[];
}

describe("A stop by a signal", function () {
  this.timeout(90_000);
  const sandbox = useSandbox();

  async function started(
    dataDir: string,
    env: Environment = {},
  ): Promise<{ fermata: FermataProcess; url: string; api: ApiClient }> {
    const fermata = sandbox.spawn(["start"], dataDir, env);
    const url = await fermata.listening();
    return { fermata, url, api: new ApiClient(url, await fermata.demoKey()) };
  }

  async function accepted(api: ApiClient, prompt: string): Promise<string> {
    return dataOf<{ id: string }>(await api.generate({ model_id: "synth/instrumental", prompt, duration: 5 })).id;
  }

  async function processing(api: ApiClient, id: string): Promise<void> {
    await eventually("processing", async () => dataOf(await api.get(`/api/v1/jobs/${id}`)).status === "processing");
  }

  async function exitWithin(fermata: FermataProcess, signal: NodeJS.Signals): Promise<void> {
    const from = performance.now();
    expect(await fermata.stop(signal)).to.equal(0);
    expect(performance.now() - from).to.be.below(STOP_MAX_MS);
  }

  it("exits with 0 although clients keep idle, half-open and half-written connections open", async () => {
    const { fermata, url, api } = await started(await sandbox.dataDir(), { FERMATA_JOBS__SHUTDOWN_GRACE_SECONDS: "1" });
    await api.get("/api/v1/me"); // leaves a keep-alive connection
    const { hostname, port } = new URL(url);
    const idle = connect(Number(port), hostname);
    const halfWritten = connect(Number(port), hostname);
    await Promise.all([once(idle, "connect"), once(halfWritten, "connect")]);
    halfWritten.write("POST /api/v1/generations HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\n\r\n{");
    for (const socket of [idle, halfWritten]) socket.on("error", () => undefined);
    await exitWithin(fermata, "SIGTERM");
  });

  it("responds to waiting requests, releases their jobs, and the next start finishes them", async () => {
    const dataDir = await sandbox.dataDir();
    const { fermata, api } = await started(dataDir, { FERMATA_JOBS__SHUTDOWN_GRACE_SECONDS: "0.3" });
    const body = { model_id: "synth/instrumental", prompt: "tides [[delay:2]]", duration: 5 };
    const headers = { "Idempotency-Key": "tides", Prefer: "wait=30" };
    const waiting = api.generate(body, headers);
    const { id } = await eventually("the job", async () =>
      (await jobs(dataDir)).find(({ status }) => status === "processing"),
    );
    await exitWithin(fermata, "SIGINT");
    const response = await waiting;
    expect([response.status, dataOf(response).status]).to.deep.equal([202, "processing"]);
    const released = await sandbox.json<JobReport>(["jobs", "show", id], dataDir);
    expect(released.status).to.equal("processing");
    expect(released.attempts.map(({ outcome }) => outcome)).to.deep.equal(["outcome_unknown"]);

    const next = sandbox.spawn(["start"], dataDir);
    const again = new ApiClient(await next.listening(), api.key);
    await eventually("completed", async () => dataOf(await again.get(`/api/v1/jobs/${id}`)).status === "completed");
    const replay = await again.generate(body, { "Idempotency-Key": "tides" });
    expect([replay.status, replay.text]).to.deep.equal([202, response.text]);
    expect(dataOf(await again.get("/api/v1/credits"))).to.include({ available: 990, total_spent: 10 });
    await next.stop();
  });

  it("lets running jobs finish within the grace time, also when npm doubles a Ctrl-C", async () => {
    const dataDir = await sandbox.dataDir();
    const { fermata, api } = await started(dataDir, { FERMATA_JOBS__SHUTDOWN_GRACE_SECONDS: "8" });
    const id = await accepted(api, "a train [[delay:0.7]]");
    await processing(api, id);
    fermata.signal("SIGINT");
    await exitWithin(fermata, "SIGINT");
    expect((await sandbox.json<JobReport>(["jobs", "show", id], dataDir)).status).to.equal("completed");
  });

  it("exits with 0 at once on a second signal: all running jobs were released", async () => {
    const dataDir = await sandbox.dataDir();
    const { fermata, api } = await started(dataDir, { FERMATA_JOBS__SHUTDOWN_GRACE_SECONDS: "9" });
    const id = await accepted(api, "an hour [[delay:60]]");
    await processing(api, id);
    fermata.signal("SIGTERM");
    await fermata.signalAgain("SIGTERM");
    expect(await fermata.exited).to.deep.equal({ code: 0, signal: null });
    const released = await sandbox.json<JobReport>(["jobs", "show", id], dataDir);
    expect(released.status).to.equal("processing");
    expect(released.attempts.map(({ outcome }) => outcome)).to.deep.equal(["outcome_unknown"]);
  });

  async function jobs(dataDir: string): Promise<readonly { readonly id: string; readonly status: string }[]> {
    const { jobs: list } = await sandbox.json<{ jobs: { id: string; status: string }[] }>(["jobs", "list"], dataDir);
    return list;
  }
});
