import type { CallToolResult } from "@modelcontextprotocol/client";
import { expect } from "chai";
import { type ApiResponse, dataOf, errorOf, refusalOf } from "../support/api-client.js";
import { codeOf, connectMcp } from "../support/mcp-client.js";
import { eventually } from "../support/process.js";
import { startTestApp, type TestAccount } from "../support/test-app.js";

const SONG = { model_id: "scripted/song", prompt: "rain on a tin roof" };
const PING = { jsonrpc: "2.0", id: 1, method: "ping" };

interface LogEntry {
  readonly method: string;
  readonly path: string;
  readonly status_code: number;
}

function call(name: string, args: object = {}): object {
  return { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
}

/** A message of a client of a revision before 2026-07-28, which needs no other one first. */
function send({ api }: TestAccount, body: object): Promise<ApiResponse> {
  const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
  return api.send("POST", "/mcp", { headers, body });
}

/** Of the reads of this minute. */
function left({ headers }: ApiResponse): number {
  return Number(/"read-minute";r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
}

function resultOf({ text }: ApiResponse): CallToolResult {
  const [, data = ""] = /^data: (\{.*)$/m.exec(text) ?? [];
  return (JSON.parse(data) as { readonly result: CallToolResult }).result;
}

describe("/mcp, by the limits of an account", function () {
  this.timeout(30_000);

  it("draws on its reads with each message, and its calls of the API on what they draw on otherwise", async () => {
    const limits = { generation: { perMinute: 1, perDay: 10 }, read: { perMinute: 20, perDay: 100 } };
    const test = await startTestApp({ settings: { rateLimits: limits } });
    try {
      const account = await test.account();
      const credits = (): Promise<ApiResponse> => account.api.get("/api/v1/credits");
      const pinged = await send(account, PING);
      const listed = await send(account, call("list_models"));
      expect([pinged, listed, await credits()].map(left)).to.deep.equal([19, 18, 16]);

      const generate = call("generate_music", { ...SONG, wait_seconds: 0 });
      expect(codeOf(resultOf(await send(account, generate)))).to.equal(null);
      expect(left(await credits())).to.equal(12);
      const second = resultOf(await send(account, generate));
      expect([codeOf(second), JSON.stringify(second).includes("Try again in")]).to.deep.equal(["rate_limited", true]);

      const { logs } = dataOf<{ logs: LogEntry[] }>(await account.api.get("/api/v1/logs"));
      const { generations } = dataOf<{ generations: { id: string }[] }>(await account.api.get("/api/v1/generations"));
      const model = "GET /api/v1/models/scripted%2Fsong 200";
      expect(logs.map(({ method, path, status_code: status }) => `${method} ${path} ${status}`)).to.deep.equal([
        ...["POST /api/v1/generations 429", model, "POST /mcp 200"],
        "GET /api/v1/credits 200",
        ...[
          `GET /api/v1/generations/${generations[0]?.id} 200`,
          "POST /api/v1/generations 202",
          model,
          "POST /mcp 200",
        ],
        "GET /api/v1/credits 200",
        ...["GET /api/v1/models 200", "POST /mcp 200"],
        "POST /mcp 200",
      ]);

      for (let reads = left(await credits()); reads > 0; reads--)
        expect((await send(account, PING)).status).to.equal(200);
      expect(refusalOf(await send(account, PING))).to.equal("429 rate_limited");
      expect((await send(await test.account(), PING)).status).to.equal(200);
    } finally {
      await test.close();
    }
  });

  it("has as many calls open as an account may have streams, and one more when one ends", async () => {
    const test = await startTestApp({
      settings: { http: { maxJobStreamsPerAccount: 1 }, jobs: { shutdownGraceSeconds: 5 } },
    });
    const account = await test.account();
    const client = await connectMcp(test.url, account.key);
    try {
      const cancel = new AbortController();
      let begun = (): void => undefined;
      const hasBegun = new Promise<void>((resolve) => (begun = resolve));
      const open = client
        .callTool(
          { name: "generate_music", arguments: { ...SONG, wait_seconds: 60 } },
          { signal: cancel.signal, onprogress: () => begun() },
        )
        .catch(() => null);
      await hasBegun;
      const refused = await send(account, PING);
      expect([refusalOf(refused), refused.headers.get("retry-after")]).to.deep.equal(["429 rate_limited", "5"]);
      expect(errorOf(refused)).to.deep.include({
        message: "More than 1 calls of /mcp at once by one account. Try again in 5 s.",
        details: { limit: 1, window_seconds: 0, retry_after_seconds: 5 },
      });
      expect((await send(await test.account(), PING)).status).to.equal(200);
      cancel.abort();
      expect(await open).to.equal(null);
      await eventually("admitted", async () => (await send(account, PING)).status === 200);
    } finally {
      await client.close();
      await test.close();
    }
  });
});
