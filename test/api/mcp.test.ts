import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Client } from "@modelcontextprotocol/client";
import { expect } from "chai";
import express from "express";
import { dataOf, refusalOf } from "../support/api-client.js";
import { SCRIPTED_TRACK, submitAccepts, submitCompletes, submitFails } from "../support/doubles/scripted-provider.js";
import { codeOf, connectMcp, type McpClientOptions, structured, textOf } from "../support/mcp-client.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

const SONG = { model_id: "scripted/song", prompt: "rain on a tin roof" };
const TOOLS = [
  ...["cancel_job", "generate_music", "get_credits", "get_generation", "get_job", "get_track", "list_models"],
  ...["remove_vocals", "search_library", "split_stems", "wait_for_generation"],
];
const MESSAGE = {
  "Content-Type": "application/json",
  Accept: "application/json, text/event-stream",
} as const;
const PING = { jsonrpc: "2.0", id: 1, method: "ping" };

describe("/mcp", function () {
  this.timeout(30_000);
  let test: TestApp;
  let clients: Client[];
  before(async () => {
    test = await startTestApp({ work: true, settings: { mcp: { confirmAbove: 1_000 } } });
  });
  beforeEach(() => {
    clients = [];
    test.provider.behaviour = submitCompletes;
  });
  afterEach(() => Promise.all(clients.map((client) => client.close())));
  after(() => test.close());

  async function connect({ key }: TestAccount, options: McpClientOptions = {}, at = test.url): Promise<Client> {
    const client = await connectMcp(at, key, options);
    clients.push(client);
    return client;
  }

  for (const era of ["modern", "legacy"] as const) {
    it(`has tools with schemas, annotations and costs, for clients of the ${era} revision`, async () => {
      const client = await connect(await test.account(), { era });
      expect(client.getServerVersion()?.name).to.equal("fermata");
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name).sort()).to.deep.equal(TOOLS);
      for (const tool of tools) {
        expect([tool.inputSchema.type, tool.outputSchema?.type], tool.name).to.deep.equal(["object", "object"]);
        expect(tool.annotations, tool.name).to.have.all.keys(
          ...["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"],
        );
        expect(tool._meta?.["fermata/cost"], tool.name).to.include({ unit: "credits" });
      }
      const writing = tools.filter(({ annotations }) => annotations?.readOnlyHint !== true).map(({ name }) => name);
      expect(writing.sort()).to.deep.equal(["cancel_job", "generate_music", "remove_vocals", "split_stems"]);
    });

    it(`generates with rising progress, and links the audio, for clients of the ${era} revision`, async () => {
      const { api, ...account } = await test.account();
      const client = await connect({ api, ...account }, { era });
      const numbers: number[] = [];
      const result = await client.callTool(
        { name: "generate_music", arguments: SONG },
        { onprogress: ({ progress }) => void numbers.push(progress) },
      );
      expect(codeOf(result), textOf(result)).to.equal(null);
      expect(result.structuredContent).to.include({ status: "completed", model_id: SONG.model_id });
      const { id, tracks } = result.structuredContent as { id: string; tracks: { id: string; play_url: string }[] };
      const links = result.content.flatMap((block) => (block.type === "resource_link" ? [block.uri] : []));
      expect(links).to.deep.equal([`fermata://tracks/${tracks[0]?.id}`, tracks[0]?.play_url]);
      expect((await fetch(tracks[0]?.play_url ?? "")).status).to.equal(200);
      expect(numbers.length).to.be.greaterThan(1);
      expect(numbers).to.deep.equal([...new Set(numbers)].sort((one, other) => one - other));
      expect(numbers.at(-1)).to.equal(100);
      expect(dataOf(await api.get(`/api/v1/generations/${id}`))).to.include({ status: "completed" });
    });
  }

  it("finds nothing by an id that no path can have, and says what a key may be", async () => {
    const client = await connect(await test.account());
    const calls = [
      ["get_job", { job_id: "\ud800" }],
      ["get_track", { track_id: "\ud800" }],
      ["generate_music", { ...SONG, model_id: "\ud800" }],
    ] as const;
    const codes = calls.map(async ([name, values]) => codeOf(await client.callTool({ name, arguments: values })));
    expect(await Promise.all(codes)).to.deep.equal(["job_not_found", "track_not_found", "model_not_found"]);
    const keyed = await client.callTool({ name: "generate_music", arguments: { ...SONG, idempotency_key: "é" } });
    expect(keyed.isError).to.equal(true);
    expect(textOf(keyed)).to.include("idempotency_key: must have 1 to 255 printable ASCII characters");
  });

  it("charges a repeated call with the same key once", async () => {
    const account = await test.account({ credits: 100 });
    const client = await connect(account);
    const call = { name: "generate_music", arguments: { ...SONG, idempotency_key: "one" } };
    const [first, second] = [await client.callTool(call), await client.callTool(call)];
    expect(structured(first)["id"]).to.equal(structured(second)["id"]);
    const credits = await client.callTool({ name: "get_credits", arguments: {} });
    const cost = structured(first)["credits_charged"] as number;
    expect(credits.structuredContent).to.include({ available: 100 - cost, total_spent: cost });
  });

  it("returns a job that is not done in time, and waits for it in a second call", async () => {
    test.provider.behaviour = submitAccepts(50);
    test.provider.pollBehaviour = () => Promise.resolve({ state: "running", nextPollMs: 50 });
    const client = await connect(await test.account());
    const begun = await client.callTool({ name: "generate_music", arguments: { ...SONG, wait_seconds: 0 } });
    const id = structured(begun)["id"] as string;
    expect(textOf(begun)).to.include(`wait_for_generation with generation_id: ${id}`);
    test.provider.pollBehaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });
    const ended = await client.callTool({ name: "wait_for_generation", arguments: { generation_id: id } });
    expect(ended.structuredContent).to.include({ id, status: "completed" });
    const job = await client.callTool({ name: "get_job", arguments: { job_id: id } });
    expect(job.structuredContent).to.include({ job_id: id, status: "completed" });
  });

  it("reports what the API refuses with its code, and a failed generation with its refund", async () => {
    const poor = await connect(await test.account({ credits: 0 }));
    const refused = await poor.callTool({ name: "generate_music", arguments: SONG });
    expect(codeOf(refused)).to.equal("insufficient_credits");
    const unknown = await poor.callTool({ name: "generate_music", arguments: { ...SONG, model_id: "no/model" } });
    expect(codeOf(unknown)).to.equal("model_not_found");
    const scoped = await connect(await test.account({ scopes: ["models:read"] }));
    expect(codeOf(await scoped.callTool({ name: "get_credits", arguments: {} }))).to.equal("insufficient_scope");
    test.provider.behaviour = submitFails("failed");
    const failed = await (await connect(await test.account())).callTool({ name: "generate_music", arguments: SONG });
    expect([codeOf(failed), textOf(failed).includes("refunded")]).to.deep.equal(["generation_failed", true]);
    const badArguments = await poor.callTool({ name: "generate_music", arguments: { prompt: 1 } });
    expect(badArguments.isError).to.equal(true);
  });

  it("finds tracks, and has them as resources", async () => {
    const client = await connect(await test.account());
    const made = await client.callTool({ name: "generate_music", arguments: SONG });
    const { tracks } = made.structuredContent as { tracks: { id: string; title: string }[] };
    const [{ id, title } = { id: "", title: "" }] = tracks;
    const { resources } = await client.listResources();
    expect(resources).to.deep.include({
      ...{ uri: `fermata://tracks/${id}`, name: id, title, mimeType: "application/json" },
      description: "A track, with links to its audio and its cover",
    });
    const { contents } = await client.readResource({ uri: `fermata://tracks/${id}` });
    expect(JSON.parse((contents[0] as { text: string }).text)).to.include({ id, title });
    const missing = await client.readResource({ uri: "fermata://tracks/trk_none" }).catch((error: Error) => error);
    expect(missing).to.be.instanceOf(Error);
    const found = await client.callTool({ name: "search_library", arguments: { q: "tin roof", limit: 1 } });
    expect(structured(found)["tracks"]).to.have.lengthOf(1);
    const track = await client.callTool({ name: "get_track", arguments: { track_id: id } });
    expect(track.structuredContent).to.include({ id, title });
    await client.callTool({ name: "generate_music", arguments: SONG });
    const first = structured(await client.callTool({ name: "search_library", arguments: { limit: 1 } }));
    const more = { limit: 1, cursor: first["next_cursor"] };
    const second = structured<{
      readonly tracks: readonly { readonly id: string }[];
      readonly next_cursor: string | null;
    }>(await client.callTool({ name: "search_library", arguments: more }));
    expect([second.tracks.map((one) => one.id), second.next_cursor]).to.deep.equal([[id], null]);
  });

  it("refuses wrong keys as the API does, and pages of other sites", async () => {
    const { key, api } = await test.account();
    const send = (headers: Readonly<Record<string, string>>) =>
      test.anonymous.send("POST", "/mcp", { headers: { ...MESSAGE, ...headers }, body: PING });
    const none = await send({});
    expect([refusalOf(none), none.headers.get("www-authenticate")]).to.deep.equal([
      "401 authentication_required",
      "Bearer",
    ]);
    const wrong = await send({ Authorization: "Bearer wrong" });
    expect([refusalOf(wrong), wrong.headers.get("www-authenticate")]).to.deep.equal([
      "401 invalid_api_key",
      'Bearer error="invalid_token"',
    ]);
    const authorization = { Authorization: `Bearer ${key}` };
    expect(refusalOf(await send({ ...authorization, Origin: "http://evil.example" }))).to.equal("403 invalid_request");
    expect((await send({ ...authorization, Origin: test.url })).status).to.equal(200);
    expect(refusalOf(await api.get("/mcp"))).to.equal("405 method_not_allowed");
    const large = { headers: MESSAGE, body: { ...PING, params: { text: "x".repeat(300_000) } } };
    expect(refusalOf(await api.send("POST", "/mcp", large))).to.equal("413 payload_too_large");
  });

  it("asks for a confirmation of what costs more than the setting, by a form or an argument", async () => {
    const strict = await startTestApp({ work: true, settings: { mcp: { confirmAbove: 1 } } });
    try {
      const account = await strict.account();
      const plain = await connect(account, {}, strict.url);
      const asked = await plain.callTool({ name: "generate_music", arguments: SONG });
      expect(codeOf(asked)).to.equal("confirmation_required");
      const { details } = asked._meta?.["fermata/error"] as { details: { cost: number } };
      const wrong = { ...SONG, confirm_cost: details.cost - 1 };
      expect(codeOf(await plain.callTool({ name: "generate_music", arguments: wrong }))).to.equal(
        "confirmation_required",
      );
      const right = { ...SONG, confirm_cost: details.cost };
      expect(codeOf(await plain.callTool({ name: "generate_music", arguments: right }))).to.equal(null);
      const messages: string[] = [];
      const yes = await connect(
        account,
        { onForm: (message) => (messages.push(message), { action: "accept", content: { confirm: true } }) },
        strict.url,
      );
      expect(codeOf(await yes.callTool({ name: "generate_music", arguments: SONG }))).to.equal(null);
      expect(messages).to.have.lengthOf(1);
      expect(messages[0]).to.include(`costs ${details.cost} credits`);
      const no = await connect(account, { onForm: () => ({ action: "decline" }) }, strict.url);
      expect(codeOf(await no.callTool({ name: "generate_music", arguments: SONG }))).to.equal("confirmation_declined");
      const credits = await plain.callTool({ name: "get_credits", arguments: {} });
      expect(credits.structuredContent).to.include({ total_spent: 2 * details.cost });
    } finally {
      await strict.close();
    }
  });

  it("ends a subscription as soon as it is acknowledged: nothing changes that could be listened for", async () => {
    const { api } = await test.account();
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const body = {
      ...{ jsonrpc: "2.0", id: "listen", method: "subscriptions/listen" },
      params: { _meta, notifications: { toolsListChanged: true } },
    };
    const headers = { ...MESSAGE, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen" };
    const { status, text } = await api.send("POST", "/mcp", { headers, body });
    const messages = [...text.matchAll(/^data: (.+)$/gm)].map(([, data = ""]) => JSON.parse(data) as object);
    expect([status, messages.length]).to.deep.equal([200, 2]);
    expect(messages[0]).to.deep.include({ method: "notifications/subscriptions/acknowledged" });
    expect(messages[1]).to.have.nested.property("result.resultType", "complete");
  });

  it("works below the prefix of another app, and is not there where it is off", async () => {
    const publicUrl = "https://example.com/music";
    const mounted = await startTestApp({ listen: false, settings: { http: { publicUrl } } });
    const off = await startTestApp({ settings: { mcp: { enabled: false } } });
    const server = express().use("/music", mounted.app.router).listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}/music`;
      const client = await connect(await mounted.account(), {}, at);
      const { structuredContent } = await client.callTool({ name: "list_models", arguments: {} });
      expect((structuredContent as { models: { id: string }[] }).models.map(({ id }) => id)).to.include(SONG.model_id);
      const absent = await (await off.account()).api.send("POST", "/mcp", { headers: MESSAGE, body: PING });
      expect(refusalOf(absent)).to.equal("404 not_found");
    } finally {
      server.closeAllConnections();
      server.close();
      await Promise.all([mounted.close(), off.close()]);
    }
  });
});
