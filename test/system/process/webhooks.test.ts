import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { FaultReceiver, type ReceivedRequest } from "../../support/fault-receiver/receiver.js";
import { CallRecording } from "../../support/plugins/recording/call-recording.js";
import { recordingProviderSettings } from "../../support/plugins/settings.js";
import { type Environment, eventually, useSandbox } from "../../support/process.js";

interface Event {
  readonly type: string;
  readonly data: {
    readonly job_id: string;
    readonly status: string;
    readonly client: string;
    readonly metadata: unknown;
    readonly outputs: readonly { readonly url: string }[];
  };
}

interface Deliveries {
  readonly deliveries: readonly {
    readonly id: string;
    readonly event_id: string;
    readonly state: string;
    readonly attempts: number;
  }[];
}

const BODY = {
  ...{ model_id: "synth/instrumental", prompt: "[[fail:failed]]", client: "tests" },
  ...{ options: { seed: 3 }, metadata: { order: 17 } },
};

describe("Webhooks of a running Fermata", function () {
  this.timeout(60_000);
  const sandbox = useSandbox();

  let receiver: FaultReceiver;
  let dataDir: string;
  let env: Environment;
  let account: { readonly id: string; readonly key: string };

  beforeEach(async () => {
    receiver = await FaultReceiver.open();
    dataDir = await sandbox.dataDir();
    const ca = join(dataDir, "ca.pem");
    await writeFile(ca, receiver.ca);
    env = {
      NODE_EXTRA_CA_CERTS: ca,
      FERMATA_DEMO__ENABLED: "false",
      FERMATA_PLUGINS__SYNTH__TEST_HOOKS: "true",
      FERMATA_WEBHOOKS__ALLOW_NETWORKS: "127.0.0.0/8",
      FERMATA_WEBHOOKS__TIMEOUT_SECONDS: "1",
      FERMATA_WEBHOOKS__SCHEDULE_SECONDS: "0.1,0.1",
      FERMATA_JOBS__SWEEP_MS: "100",
    };
    await sandbox.json(["migrate"], dataDir, env);
    const { id } = await sandbox.json<{ id: string }>(
      ["accounts", "create", "alice", "--tier", "pro", "--accept-terms", "--credits", "100"],
      dataDir,
      env,
    );
    account = { id, key: (await sandbox.json<{ key: string }>(["keys", "issue", id], dataDir, env)).key };
  });
  afterEach(() => receiver.close());

  const register = async (
    url: string,
    path: string,
  ): Promise<{ readonly id: string; readonly signing_secret: string }> => {
    const body = { url: receiver.url(path) };
    const headers = { "Content-Type": "application/json" };
    return dataOf(await new ApiClient(url, account.key).send("POST", "/api/v1/webhook-endpoints", { headers, body }));
  };

  const verified = (secret: string, request: ReceivedRequest | undefined): Event =>
    new Webhook(secret).verify(request?.body ?? "", request?.headers as Record<string, string>) as Event;

  /** A command in a separate process: its trusted certificates are fixed at its start. */
  const command = async (
    ...args: readonly string[]
  ): Promise<{ readonly code: number | null; readonly json: Record<string, unknown> }> => {
    const started = sandbox.spawn([...args, "--json"], dataDir, env);
    const { code } = await started.exited;
    return { code, json: JSON.parse(started.stdout) as Record<string, unknown> };
  };

  const deliveriesOf = async (endpoint: string): Promise<Deliveries["deliveries"]> =>
    (await sandbox.json<Deliveries>(["webhooks", "deliveries", endpoint], dataDir, env)).deliveries;

  it("report a failed and a completed job, with signatures that the public library accepts", async () => {
    const server = sandbox.spawn(["start"], dataDir, env);
    const url = await server.listening();
    const api = new ApiClient(url, account.key);
    const endpoint = await register(url, "/ok");
    const failed = dataOf<{ id: string }>(await api.generate(BODY));
    const completed = dataOf<{ id: string }>(await api.generate({ ...BODY, prompt: "slow rain", duration: 5 }));
    const events: Event[] = [];
    // A sender that is slow to record one may send it again.
    while (new Set(events.map(({ data }) => data.job_id)).size < 2) {
      const request = (await receiver.received(events.length + 1)).at(-1);
      events.push(verified(endpoint.signing_secret, request));
    }
    const [of, about] = [
      events.find(({ data }) => data.job_id === failed.id),
      events.find(({ data }) => data.job_id === completed.id),
    ];
    expect([of?.type, about?.type]).to.deep.equal(["generation.failed", "generation.completed"]);
    const { client: sentBy, metadata: kept, options } = BODY;
    expect(of?.data).to.deep.include({ status: "failed", client: sentBy, options, metadata: kept, outputs: [] });

    const { client, metadata, outputs, ...job } = about?.data as Event["data"];
    const { outputs: shown, ...polled } = dataOf<Event["data"]>(await api.get(`/api/v1/jobs/${completed.id}`));
    expect([client, metadata]).to.deep.equal(["tests", { order: 17 }]);
    expect(job).to.deep.equal(polled);
    const expires = Number(new URL(outputs[0]?.url ?? "").searchParams.get("expires")) * 1000;
    expect(expires - Date.now()).to.be.within(95 * 3_600_000, 97 * 3_600_000);
    expect(new URL(shown[0]?.url ?? "").pathname).to.equal(new URL(outputs[0]?.url ?? "").pathname);
    expect((await fetch(outputs[0]?.url ?? "")).status).to.equal(200);

    await eventually("both delivered", async () =>
      (await deliveriesOf(endpoint.id)).every(({ state }) => state === "delivered"),
    );
    expect(await server.stop()).to.equal(0);
    expect((await sandbox.json<{ ok: boolean }>(["ledger", "verify"], dataDir, env)).ok).to.equal(true);
  });

  it("are sent again under the same id when the sender dies between the POST and recording its result", async () => {
    const first = sandbox.spawn(["start"], dataDir, env);
    const url = await first.listening();
    const endpoint = await register(url, "/hang");
    await new ApiClient(url, account.key).generate(BODY);
    await receiver.received(1);
    await first.kill();
    expect((await deliveriesOf(endpoint.id))[0]).to.include({ state: "pending", attempts: 0 });

    const second = sandbox.spawn(["work"], dataDir, env);
    const [one, two] = await receiver.received(2);
    expect(two?.headers["webhook-id"]).to.equal(one?.headers["webhook-id"]);
    expect(two?.body.equals(one?.body ?? Buffer.alloc(0))).to.equal(true);
    expect(await second.stop()).to.equal(0);
  });

  it("are sent while a stop waits for a render that cannot be repeated", async () => {
    const renders = {
      ...recordingProviderSettings(join(dataDir, "recording"), 1_500),
      FERMATA_PLUGINS__RECORDING_LOOKUP__LATE_MS: "3600000",
      FERMATA_JOBS__SHUTDOWN_GRACE_SECONDS: "0.2",
    };
    const server = sandbox.spawn(["start"], dataDir, { ...env, ...renders });
    const url = await server.listening();
    const api = new ApiClient(url, account.key);
    const endpoint = await register(url, "/ok");
    await api.generate({ model_id: "recording-lookup/late", prompt: "an hour" });
    const { id } = dataOf<{ id: string }>(await api.generate({ model_id: "recording/late", prompt: "a moment" }));
    await eventually("both are under way", () => new CallRecording(join(dataDir, "recording")).read().length === 2);
    server.signal("SIGTERM");
    await eventually("it waits for both", () => /1 submission to \S+ and 1 submission to \S+/.test(server.stderr));
    const [request] = await receiver.received(1);
    expect(verified(endpoint.signing_secret, request)).to.deep.include({ type: "generation.completed" });
    expect(verified(endpoint.signing_secret, request).data.job_id).to.equal(id);
    expect(server.hasExited).to.equal(false);
  });

  it("that failed are listed with every delivery attempt, and can be resent by the operator", async () => {
    const server = sandbox.spawn(["start"], dataDir, env);
    const url = await server.listening();
    const endpoint = await register(url, "/status/503");
    await new ApiClient(url, account.key).generate(BODY);
    await receiver.received(3);
    const found = await eventually("exhausted", async () => {
      const [delivery] = (
        await sandbox.json<{ deliveries: { id: string; state: string; attempts: number; tries: object[] }[] }>(
          ["webhooks", "deliveries", endpoint.id],
          dataDir,
          env,
        )
      ).deliveries;
      return delivery?.state === "exhausted" ? delivery : null;
    });
    expect(found).to.include({ attempts: 3 });
    expect(found.tries).to.have.length(3);
    for (const created of found.tries)
      expect(created).to.include({ status: 503, failure: "http_5xx", delivered: false });

    const failed = await command("webhooks", "resend", found.id);
    expect([failed.code, failed.json["failure"]]).to.deep.equal([1, "http_5xx"]);
    const headers = { "Content-Type": "application/json" };
    await new ApiClient(url, account.key).send("PATCH", `/api/v1/webhook-endpoints/${endpoint.id}`, {
      headers,
      body: { url: receiver.url("/ok") },
    });
    const since = new Date(Date.now() - 60_000).toISOString();
    const range = await command("webhooks", "resend", "--endpoint", endpoint.id, "--since", since);
    expect(range).to.deep.equal({ code: 0, json: { sent: 1, delivered: 1, last: found.id } });
    expect((await deliveriesOf(endpoint.id))[0]).to.include({ state: "delivered", attempts: 3 });

    expect((await command("webhooks", "ping", endpoint.id)).json).to.include({ delivered: true });
    const { signing_secret: fresh } = await sandbox.json<{ signing_secret: string }>(
      ["webhooks", "rotate-secret", endpoint.id],
      dataDir,
      env,
    );
    await command("webhooks", "ping", endpoint.id);
    const last = receiver.requests.at(-1);
    for (const secret of [fresh, endpoint.signing_secret]) expect(verified(secret, last).type).to.equal("webhook.ping");
    const { endpoints } = await sandbox.json<{ endpoints: { id: string; status: string }[] }>(
      ["webhooks", "endpoints", account.id],
      dataDir,
      env,
    );
    expect(endpoints.map(({ id, status }) => [id, status])).to.deep.equal([[endpoint.id, "active"]]);
    expect(await server.stop()).to.equal(0);
  });
});
