import { PassThrough } from "node:stream";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { Client } from "@modelcontextprotocol/client";
import { expect } from "chai";
import { dataOf } from "../../support/api-client.js";
import { openEventStream } from "../../support/event-stream.js";
import { codeOf, type McpClientOptions, mcpClient, textOf } from "../../support/mcp-client.js";
import { type Environment, eventually, useSandbox } from "../../support/process.js";
import { repositoryPath } from "../../support/repository.js";
import { startTestApp, type TestApp } from "../../support/test-app.js";

const TRACK = { model_id: "synth/instrumental", prompt: "rain on a tin roof", duration: 5 };

interface Connected {
  readonly client: Client;
  stderr(): string;
  /** Of all progress notifications that arrived. The client shows none whose response arrived in the same chunk. */
  progress(): number[];
}

/** A client of `fermata mcp`, which runs in a process of its own. */
async function connectTo(env: Environment, options: McpClientOptions, args: readonly string[]): Promise<Connected> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [repositoryPath("dist/config/main.js"), "mcp", ...args],
    env: { ...env },
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const client = mcpClient(options);
  await client.connect(transport);
  const { onmessage } = transport;
  const progress: number[] = [];
  transport.onmessage = (message) => {
    if ("method" in message && message.method === "notifications/progress")
      progress.push((message.params as { readonly progress: number }).progress);
    onmessage?.(message);
  };
  return { client, stderr: () => stderr, progress: () => progress };
}

describe("fermata mcp", function () {
  this.timeout(120_000);
  const sandbox = useSandbox();
  let env: Environment;
  let clients: Client[];
  beforeEach(async () => {
    clients = [];
    const server = sandbox.spawn(["start"], await sandbox.dataDir());
    env = { FERMATA_URL: await server.listening(), FERMATA_API_KEY: await server.demoKey() };
  });
  afterEach(() => Promise.all(clients.map((client) => client.close())));

  async function connect(
    given: Environment = env,
    options: McpClientOptions = {},
    ...args: readonly string[]
  ): Promise<Connected> {
    const connected = await connectTo(given, options, args);
    clients.push(connected.client);
    return connected;
  }

  for (const era of ["modern", "legacy"] as const) {
    it(`makes music with any server, for a client of the ${era} revision that asks its user`, async () => {
      const messages: string[] = [];
      const { client, stderr, progress } = await connect(
        env,
        { era, onForm: (message) => (messages.push(message), { action: "accept", content: { confirm: true } }) },
        ...["--confirm-above", "0"],
      );
      const generate = { name: "generate_music", arguments: TRACK };
      const result = await client.callTool(generate, { onprogress: () => undefined });
      expect(codeOf(result), textOf(result)).to.equal(null);
      expect(result.structuredContent).to.include({ status: "completed" });
      expect([messages.length, progress().at(-1), stderr()]).to.deep.equal([1, 100, ""]);
    });
  }

  it("shows the code of a wrong key and of a server that is not there, and no key", async () => {
    const wrong = await connect({ ...env, FERMATA_API_KEY: "fmt_wrong-secret" });
    const refused = await wrong.client.callTool({ name: "get_credits", arguments: {} });
    expect(codeOf(refused)).to.equal("invalid_api_key");
    const nowhere = await connect({ ...env, FERMATA_URL: "http://127.0.0.1:9" });
    const lost = await nowhere.client.callTool({ name: "get_credits", arguments: {} });
    expect(codeOf(lost)).to.equal("network_error");
    const shown =
      [refused, lost].map((result) => JSON.stringify(result)).join("\n") + wrong.stderr() + nowhere.stderr();
    expect(shown).not.to.include("wrong-secret").and.not.to.include(env["FERMATA_API_KEY"]);
    expect(shown).not.to.include("    at ");
  });

  it("exits with 2, and names the variable, without a key", async () => {
    const { code, stderr } = await sandbox.command(["mcp", "--url", "ftp://x"], await sandbox.dataDir());
    expect(code).to.equal(2);
    expect(stderr).to.include("FERMATA_URL").and.to.include("FERMATA_API_KEY");
  });

  it("ends with 0 when its client closes its end, and at a signal", async () => {
    const dataDir = await sandbox.dataDir();
    const keyboard = new PassThrough();
    const closed = sandbox.call(["mcp"], dataDir, env, { keyboard });
    keyboard.end();
    expect(await closed.ended).to.equal(0);
    const open = new PassThrough();
    const stopped = sandbox.call(["mcp"], dataDir, env, { keyboard: open });
    open.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`);
    await eventually("a response", () => stopped.stdout.includes('"id":1'));
    expect(await stopped.stop()).to.equal(0);
  });
});

describe("fermata mcp, where a call is cancelled", function () {
  this.timeout(60_000);
  let test: TestApp;
  before(async () => {
    // Without workers, so that nothing is bought of a job.
    test = await startTestApp();
  });
  after(() => test.close());

  for (const era of ["modern", "legacy"] as const) {
    it(`cancels the job and refunds it, for a client of the ${era} revision`, async () => {
      const { api, key } = await test.account({ credits: 100 });
      const { client, stderr } = await connectTo({ FERMATA_URL: test.url, FERMATA_API_KEY: key }, { era }, []);
      try {
        const cancel = new AbortController();
        const call = client.callTool(
          { name: "generate_music", arguments: { model_id: "scripted/song", prompt: "rain" } },
          { signal: cancel.signal, onprogress: () => cancel.abort(new Error("wanted no more")) },
        );
        expect(
          await call.then(
            () => "completed",
            () => "cancelled",
          ),
        ).to.equal("cancelled");
        const { generations } = dataOf<{ generations: { id: string }[] }>(await api.get("/api/v1/generations"));
        const events = await openEventStream(api, `/api/v1/jobs/${generations[0]?.id}/events`);
        await events.until(({ name }) => name === "failed");
        await events.ended;
        expect(dataOf(await api.get("/api/v1/credits"))).to.include({ available: 100, total_spent: 0 });
        // The connection goes on.
        const credits = await client.callTool({ name: "get_credits", arguments: {} });
        expect(credits.structuredContent).to.include({ available: 100 });
        expect(stderr()).to.equal("");
      } finally {
        await client.close();
      }
    });
  }
});
