import { expect } from "chai";
import { ApiClient } from "../support/api-client.js";
import { createMigratedMysqlDatabase } from "../support/mysql.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const PLENTY = 100_000;

describe("Rate limits of three servers on one storage", function () {
  this.timeout(60_000);

  let database: { readonly url: string; drop(): Promise<void> };
  let servers: TestApp[];

  /** A separate server, on the shared storage. */
  const start = (): Promise<TestApp> =>
    startTestApp({
      settings: {
        storage: { url: database.url },
        secrets: { key: "the same one for all three servers" },
        http: { port: 0, trustProxy: ["loopback"] },
        rateLimits: {
          store: "shared",
          read: { perMinute: 120, perDay: PLENTY },
          generation: { perMinute: PLENTY, perDay: 12 },
          write: { perMinute: PLENTY, perDay: PLENTY },
          authFailures: { perMinute: 12 },
        },
      },
    });

  before(async () => {
    database = await createMigratedMysqlDatabase();
    servers = [await start(), await start(), await start()];
  });
  after(async () => {
    await Promise.all(servers.map((server) => server.close()));
    await database.drop();
  });

  /** Sends so many concurrent requests, to each server in turn. @returns how many responses had each status */
  async function send(
    count: number,
    request: (server: TestApp) => Promise<{ readonly status: number }>,
  ): Promise<Record<string, number>> {
    const responses = await Promise.all(
      Array.from({ length: count }, (_, index) => request(servers[index % servers.length] as TestApp)),
    );
    const found: Record<string, number> = {};
    for (const { status } of responses) found[status] = (found[status] ?? 0) + 1;
    return found;
  }

  it("are shared, and survive a restart", async () => {
    const { key } = await (servers[0] as TestApp).account();
    const generate = (server: TestApp) => new ApiClient(server.url, key).generate();
    expect(await send(30, generate)).to.deep.equal({ 202: 12, 429: 18 });
    await servers[2]?.close();
    servers[2] = await start();
    const response = await generate(servers[2]);
    expect([response.status, response.headers.get("ratelimit")?.split(", ")[1]?.split(";t=")[0]]).to.deep.equal([
      429,
      '"generation-day";r=0',
    ]);
  });

  it("let at most 5 % more requests pass where servers count locally between exchanges", async () => {
    const { key } = await (servers[0] as TestApp).account();
    // All at once, a busy machine would answer some with 503.
    const found: Record<string, number> = {};
    for (let wave = 0; wave < 7; wave++) {
      const statuses = await send(30, (server) => new ApiClient(server.url, key).get("/api/v1/me"));
      for (const [status, count] of Object.entries(statuses)) found[status] = (found[status] ?? 0) + count;
    }
    expect(Object.keys(found)).to.deep.equal(["200", "429"]);
    expect(found["200"]).to.be.at.least(120).and.at.most(126);
  });

  it("count an address's failed authentications across servers", async () => {
    const found = await send(30, ({ anonymous }) => anonymous.get("/api/v1/me", { "X-Forwarded-For": "203.0.113.7" }));
    expect(found).to.deep.equal({ 401: 12, 429: 18 });
  });
});
