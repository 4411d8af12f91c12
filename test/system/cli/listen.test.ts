import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { FaultReceiver } from "../../support/fault-receiver/receiver.js";
import { type Environment, eventually, type FermataCall, useSandbox } from "../../support/process.js";

const EVENTS = [1, 2, 3].map((number) => ({
  id: `evt_${number}`,
  body: {
    type: "generation.completed",
    timestamp: `2026-11-2${number}T06:30:00.000Z`,
    data: { job_id: `job_${number}`, status: "completed" },
  },
}));

/** In place of a server: two events at first, then one more, then what a test says. */
class ScriptedServer {
  readonly asked: string[] = [];
  /** How many of the next requests fail. */
  failures = 0;
  private readonly server: Server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
    this.asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    const isFailing = this.failures-- > 0;
    const after = Number(searchParams.get("after") ?? 0);
    const found = EVENTS.slice(after, after === 0 ? 2 : undefined);
    const data = { events: found, next_cursor: String(after + found.length), has_more: false };
    if (pathname !== "/api/v1/events") return response.writeHead(404).end();
    return response.writeHead(isFailing ? 502 : 200).end(isFailing ? "" : JSON.stringify({ data }));
  });

  async open(): Promise<string> {
    this.server.listen(0, "127.0.0.1");
    await once(this.server, "listening");
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }
}

describe("fermata webhooks listen", function () {
  this.timeout(60_000);
  const sandbox = useSandbox();
  let server: ScriptedServer;
  let env: Environment;

  beforeEach(async () => {
    server = new ScriptedServer();
    env = { FERMATA_URL: await server.open(), FERMATA_API_KEY: "frm_1" };
  });
  afterEach(() => server.close());

  const listen = async (args: readonly string[], given: Environment = {}): Promise<FermataCall> =>
    sandbox.call(["webhooks", "listen", ...args], await sandbox.dataDir(), {
      ...env,
      ...given,
    });

  async function interrupted(call: FermataCall): Promise<number> {
    call.signal("SIGINT");
    return call.ended;
  }

  it("prints each event since a time once, in a line, until Ctrl-C", async () => {
    const call = await listen(["--since", "2026-11-22"]);
    await eventually("three events", () => server.asked.length > 2);
    expect(await interrupted(call)).to.equal(0);
    expect(call.stdout).to.equal(
      "2026-11-22T06:30:00.000Z  generation.completed  job_2  evt_2\n" +
        "2026-11-23T06:30:00.000Z  generation.completed  job_3  evt_3\n",
    );
    expect(server.asked.slice(0, 3)).to.deep.equal([
      "GET /api/v1/events?limit=100 Bearer frm_1",
      "GET /api/v1/events?after=2&limit=100 Bearer frm_1",
      "GET /api/v1/events?after=3&limit=100 Bearer frm_1",
    ]);
  });

  it("prints them as JSON lines, also after the server did not respond for a while", async () => {
    server.failures = 5;
    const call = await listen(["--since", "2026-11-22", "--json"]);
    await eventually("three events", () => call.stdout.split("\n").length > 2, 50_000);
    expect(await interrupted(call)).to.equal(0);
    const lines = call.stdout.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as object)).to.deep.equal(EVENTS.slice(1));
    expect(call.stderr).to.include("Trying again.").and.to.include("The server responds again.");
  });

  it("sends them on, signed so that `standardwebhooks` verifies them with the secret that it prints", async () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const receiver = await FaultReceiver.open({ secret });
    try {
      const forward = ["--since", "2026-11-22", "--forward", receiver.url("/status/204", { server: "http" })];
      const call = await listen(forward, { FERMATA_WEBHOOK_SECRET: secret });
      const requests = await receiver.received(2);
      await eventually("the outcome", () => call.stderr.includes("evt_3: HTTP 204 after"));
      expect(await interrupted(call)).to.equal(0);
      expect(call.stderr).to.include(`signed with ${secret}\n`);
      expect(requests.map(({ isVerified }) => isVerified)).to.deep.equal([true, true]);
      const { id, body } = EVENTS[1] as (typeof EVENTS)[number];
      expect(requests[0]?.headers["webhook-id"]).to.equal(id);
      expect(JSON.parse(requests[0]?.body.toString() ?? "")).to.deep.equal(body);
      expect(requests[0]?.headers.authorization).to.equal(undefined);
    } finally {
      await receiver.close();
    }
  });

  it("makes a secret of its own, and says what could not be sent", async () => {
    const call = await listen(["--forward", "http://127.0.0.1:1/hook"]);
    await eventually("the outcome", () => call.stderr.includes("evt_3: not sent: "));
    expect(await interrupted(call)).to.equal(0);
    // Without --since, what was there before is not shown.
    expect(call.stdout).to.equal("2026-11-23T06:30:00.000Z  generation.completed  job_3  evt_3\n");
    expect(call.stderr).to.match(/signed with whsec_[A-Za-z0-9+/]{43}=\n/);
  });

  it("ends with 1 when the server refuses the key or has no such list", async () => {
    const call = await listen([], { FERMATA_URL: `${env["FERMATA_URL"]}/elsewhere` });
    expect(await call.ended).to.equal(1);
    expect(call.stderr).to.equal(`${env["FERMATA_URL"]}/elsewhere: The server responded with 404.\n`);
  });
});

describe("fermata generate, against a scripted server", function () {
  this.timeout(60_000);
  const sandbox = useSandbox();

  it("cancels the job at Ctrl-C, in a process of its own, and ends with 130", async () => {
    const model = {
      id: "a/b",
      supports_lyrics: false,
      supports_instrumental: true,
      credit_cost: 5,
      status: "available",
    };
    const cancelled = { job_id: "job_1", status: "failed", credits_charged: 0, outputs: [] };
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      const send = (data: object): unknown => response.end(JSON.stringify({ data }));
      if (request.url === "/api/v1/models") return send({ models: [model] });
      if (request.url === "/api/v1/generations") return send({ id: "job_1", status: "queued", credits_reserved: 5 });
      if (request.url === "/api/v1/jobs/job_1/cancel") return send({ outcome: "cancelled", job: cancelled });
      // A stream on which nothing happens.
      return response.writeHead(200, { "Content-Type": "text/event-stream" }).write(": still here\n\n");
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const env = { FERMATA_URL: url, FERMATA_API_KEY: "frm_1" };
      const started = sandbox.spawn(["generate", "rain", "--on-interrupt", "cancel"], await sandbox.dataDir(), env);
      await eventually("the stream", () => asked.includes("GET /api/v1/jobs/job_1/events"));
      expect([await started.stop("SIGINT"), started.stdout]).to.deep.equal([130, ""]);
      expect(started.stderr.trim().split("\n").at(-1)).to.equal("job_1 is cancelled; its credits are refunded.");
      expect(asked.at(-1)).to.equal("POST /api/v1/jobs/job_1/cancel");
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
