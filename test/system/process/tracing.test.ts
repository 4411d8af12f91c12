import { expect } from "chai";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { FaultReceiver } from "../../support/fault-receiver/receiver.js";
import { createMigratedMysqlDatabase } from "../../support/mysql.js";
import { OtlpReceiver, type ReceivedSpan } from "../../support/otlp-receiver.js";
import { type Environment, useSandbox } from "../../support/process.js";
import { openQueueSpace } from "../../support/rabbitmq.js";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";
/** What a caller sends: none of it belongs into a trace. */
const BODY = {
  model_id: "synth/instrumental",
  prompt: "[[fail:failed]] hunter2-prompt",
  client: "hunter2-client",
  metadata: { order: "hunter2-order" },
  options: { seed: 3 },
};

describe("Traces of running processes", function () {
  this.timeout(60_000);
  const sandbox = useSandbox();
  let collector: OtlpReceiver;
  let receiver: FaultReceiver;
  let dataDir: string;
  let env: Environment;

  beforeEach(async () => {
    [collector, receiver] = await Promise.all([OtlpReceiver.open(), FaultReceiver.open()]);
    dataDir = await sandbox.dataDir();
    env = {
      FERMATA_DEMO__ENABLED: "false",
      FERMATA_LOGS__FORMAT: "json",
      FERMATA_WEBHOOKS__ALLOW_NETWORKS: "127.0.0.0/8",
      FERMATA_WEBHOOKS__ALLOW_HTTP: "true",
      FERMATA_JOBS__SWEEP_MS: "100",
      FERMATA_SECRETS__KEY: "hunter2-secret-key-of-the-installation",
      FERMATA_TRACING__ENDPOINT: collector.url,
      FERMATA_TRACING__HEADERS: "authorization=Bearer%20collector",
    };
  });
  afterEach(() => Promise.all([collector.close(), receiver.close()]));

  /** An account, and what registers its webhook endpoint. */
  async function account(): Promise<{ readonly key: string; readonly register: (url: string) => Promise<void> }> {
    const create = ["accounts", "create", "alice", "--tier", "pro", "--accept-terms", "--credits", "100"];
    const { id } = await sandbox.json<{ id: string }>(create, dataDir, env);
    const { key } = await sandbox.json<{ key: string }>(["keys", "issue", id], dataDir, env);
    const headers = { "Content-Type": "application/json" };
    const body = { url: receiver.url("/ok", { server: "http" }) };
    return {
      key,
      register: async (url) => {
        dataOf(await new ApiClient(url, key).send("POST", "/api/v1/webhook-endpoints", { headers, body }));
      },
    };
  }

  /** One generation, by a caller that records a trace of its own; resolves when its webhook has come. */
  async function generate(url: string, key: string): Promise<{ readonly id: string; readonly traceparent: string }> {
    const headers = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: "shop=7" };
    const { id } = dataOf<{ id: string }>(await new ApiClient(url, key).generate(BODY, headers));
    const [request] = await receiver.received(1);
    expect(request?.headers["tracestate"]).to.equal("shop=7");
    return { id, traceparent: String(request?.headers["traceparent"]) };
  }

  /** That everything which was done for the job is one trace, each part under the one that led to it. */
  function expectOneTrace(id: string, traceparent: string): void {
    const spans = collector.spans.filter(({ traceId }) => traceId === TRACE);
    const one = (name: string): ReceivedSpan => {
      const found = spans.filter((span) => span.name === name);
      expect(found, name).to.have.length(1);
      return found[0] as ReceivedSpan;
    };
    const [request, created] = [one("POST /api/v1/generations"), one("create job")];
    expect(request).to.include({ kind: "server", parentId: SPAN });
    expect(created).to.include({ kind: "producer", parentId: request.spanId });
    const step = one("process job");
    expect(step).to.include({ kind: "consumer", parentId: created.spanId });
    expect(step.attributes).to.include({ "messaging.message.id": id, "fermata.provider": "synth" });
    expect(one("submit synth")).to.include({ kind: "client", parentId: step.spanId, hasFailed: true });
    expect(one("settle job")).to.include({ parentId: step.spanId });
    expect(one("settle job").attributes).to.include({ "fermata.job.status": "failed", "fermata.credits.charged": 0 });
    for (const name of ["wait in queue", "attempt"]) expect(one(name)).to.include({ parentId: created.spanId });
    const webhook = one("deliver webhook");
    expect(webhook).to.include({ kind: "client", parentId: created.spanId, hasFailed: false });
    expect(traceparent).to.equal(`00-${TRACE}-${webhook.spanId}-01`);
  }

  it("are one from the request to the webhook, hold no secret, and are sent before the process ends", async () => {
    await sandbox.json(["migrate"], dataDir, env);
    const { key, register } = await account();
    const server = sandbox.call(["start"], dataDir, env);
    const url = await server.listening();
    await register(url);
    const { id, traceparent } = await generate(url, key);
    expect(await server.stop()).to.equal(0);

    expectOneTrace(id, traceparent);
    for (const { resource } of collector.spans) expect(resource).to.include({ "service.name": "fermata" });
    for (const headers of collector.headers) expect(headers["authorization"]).to.equal("Bearer collector");
    expect(collector.received).to.include(id).and.to.not.include("hunter2").and.not.include(key);
    expect(collector.received).to.not.match(/frm_|whsec_|Bearer (?!collector)/);
    const lines = server.stderr
      .split("\n")
      .filter((line) => line.startsWith("{") && line.includes(id))
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    expect(lines.map(({ message }) => message)).to.include("A job failed");
    for (const line of lines) expect(line["trace_id"], String(line["message"])).to.equal(TRACE);
  });

  it("go on from serve to work in another process, over MySQL and RabbitMQ", async () => {
    const [database, queues] = await Promise.all([createMigratedMysqlDatabase(), openQueueSpace()]);
    try {
      env = { ...env, FERMATA_STORAGE__URL: database.url, FERMATA_QUEUE__URL: queues.url };
      const { key, register } = await account();
      const processes = ["serve", "work"].map((command) =>
        sandbox.spawn([command], dataDir, { ...env, OTEL_SERVICE_NAME: `music-${command}` }),
      );
      const [server, worker] = processes;
      const url = (await server?.listening()) ?? "";
      await worker?.line(/^working$/m);
      await register(url);
      const { id, traceparent } = await generate(url, key);
      expect(await Promise.all(processes.map((one) => one.stop()))).to.deep.equal([0, 0]);

      expectOneTrace(id, traceparent);
      const servicesOf = (service: string): string[] =>
        collector.spans
          .filter(({ traceId, resource }) => traceId === TRACE && resource["service.name"] === service)
          .map(({ name }) => name);
      expect(servicesOf("music-serve")).to.have.members(["create job", "POST /api/v1/generations"]);
      expect(servicesOf("music-work")).to.include.members(["process job", "settle job", "deliver webhook"]);
    } finally {
      await database.drop();
      await queues.clear("synth");
    }
  });

  it("hold up neither requests nor a stop while the collector never answers", async () => {
    await sandbox.json(["migrate"], dataDir, env);
    const { key } = await account();
    collector.status = null;
    const server = sandbox.call(["start"], dataDir, env);
    const response = await new ApiClient(await server.listening(), key).generate(BODY, { Prefer: "wait=20" });
    expect(response.status).to.equal(202);
    expect(await server.stop()).to.equal(0);
    expect(collector.paths).to.include("/v1/traces");
  });
});
