import { Agent, request } from "node:http";
import { expect } from "chai";
import { type ApiResponse, dataOf, refusalOf } from "../../support/api-client.js";
import {
  type AttackedInstallation,
  attackedInstallation,
  hostileProvider,
  measured,
  openMany,
  sized,
} from "../../support/attack/index.js";
import { eventually, Sandbox } from "../../support/process.js";

const MIB = 1024 * 1024;
const TOGETHER = 16;
const HEADERS = { "Content-Type": "application/json" };

interface Logged {
  readonly logs: readonly { readonly status_code: number; readonly count: number }[];
}

describe("A hostile caller", function () {
  this.timeout(120_000);
  const sandbox = new Sandbox();
  const agent = new Agent({ keepAlive: true, maxSockets: TOGETHER });
  let attacked: AttackedInstallation;
  before(async () => {
    attacked = await attackedInstallation(sandbox, {
      ...hostileProvider(await sandbox.dataDir()),
      FERMATA_HTTP__TRUST_PROXY: "loopback",
      FERMATA_RATE_LIMITS__WRITE__PER_MINUTE: "60",
      FERMATA_WEBHOOKS__ALLOW_NETWORKS: "127.0.0.0/8",
    });
  });
  after(async () => {
    agent.destroy();
    await sandbox.clear();
  });

  /** The statuses of so many requests, several at a time. */
  async function flood(
    count: number,
    path: string,
    headersOf: (index: number) => Record<string, string> = () => ({}),
    method = "GET",
  ): Promise<number[]> {
    const { hostname, port } = new URL(attacked.target.url);
    const statuses: number[] = [];
    let next = 0;
    const one = (): Promise<number> =>
      new Promise((resolve, reject) => {
        const options = { agent, hostname, port, path, method, headers: headersOf(next++) };
        request(options, (response) => {
          response.resume();
          response.once("end", () => resolve(response.statusCode ?? 0));
        })
          .once("error", reject)
          .end();
      });
    const sendLeft = async (): Promise<void> => {
      while (next < count) statuses.push(await one());
    };
    await Promise.all(Array.from({ length: TOGETHER }, sendLeft));
    return statuses;
  }

  it("gets a 400 for two Host headers", async () => {
    const { target } = attacked;
    const { result } = await measured("two Host headers", target, async () => {
      const connections = await openMany(target.url, sized(20, 300), { reads: true });
      const head = "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n";
      for (const connection of connections) connection.send(head);
      await Promise.all(connections.map(({ closed }) => closed));
      return connections;
    });
    expect(new Set(result.map(({ statuses }) => statuses.join()))).to.deep.equal(new Set(["400"]));
    for (const connection of result) connection.destroy();
  });

  it("can create one webhook endpoint per URL, not twenty", async () => {
    const { api, target } = attacked;
    const body = { url: "https://127.0.0.1:9/hook" };
    const register = (): Promise<ApiResponse> =>
      api.send("POST", "/api/v1/webhook-endpoints", { headers: HEADERS, body });
    const { result } = await measured("one URL twenty times", target, () =>
      Promise.all(Array.from({ length: 20 }, register)),
    );
    const refused = result.filter(({ status }) => status !== 201);
    expect(refused.map(refusalOf)).to.deep.equal(Array(19).fill("400 webhook_url_invalid"));
  });

  it("over its limit leaves 21 rows a minute in the request log, however many requests it sends", async () => {
    const { api, target } = attacked;
    const startedAt = Date.now();
    const headers = { Authorization: `Bearer ${api.key ?? ""}` };
    const { result } = await measured("refused requests", target, () =>
      flood(sized(400, 20_000), "/api/v1/webhook-endpoints/whe_none", () => headers, "DELETE"),
    );
    const minutes = Math.floor(Date.now() / 60_000) - Math.floor(startedAt / 60_000) + 1;
    const refused = result.filter((status) => status === 429).length;
    expect(refused).to.be.at.least(result.length - 60 * minutes);
    const rows = await eventually("all of them in the log", async () => {
      const { logs } = dataOf<Logged>(await api.get("/api/v1/logs?limit=100"));
      const found = logs.filter(({ status_code: status }) => status === 429);
      return found.reduce((sum, { count }) => sum + count, 0) === refused && found;
    });
    expect(rows.length).to.be.at.most(21 * minutes);
  });

  it("with ever new addresses does not exhaust the memory of the rate limiter", async function () {
    this.timeout(sized(120_000, 900_000));
    const address = (index: number): string => `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
    const headersOf = (index: number): Record<string, string> => {
      return { Authorization: "Bearer x", "X-Forwarded-For": address(index) };
    };
    const [some, more] = [sized(1_000, 150_000), sized(1_000, 700_000)];
    const { result } = await measured("subjects of limits", attacked.target, async () => {
      return new Set(await flood(some, "/api/v1/me", headersOf));
    });
    // The limiter is full now: each new subject replaces another.
    const { result: later, figures } = await measured("subjects beyond the limit", attacked.target, async () => {
      return new Set(await flood(more, "/api/v1/me", (index) => headersOf(some + index)));
    });
    expect([...result, ...later]).to.deep.equal([401, 401]);
    expect(figures.rssPeakBytes - figures.rssBeforeBytes).to.be.below(180 * MIB);
  });

  it("has no valid link to an unshared track or one of a suspended account", async () => {
    const { api, target, account, run } = attacked;
    const generation = { model_id: "hostile/words", prompt: "rain" };
    const { id } = dataOf<{ id: string }>(await api.generate(generation, { Prefer: "wait=30" }));
    const trackOf = async (): Promise<{ readonly id: string; readonly play_url: string }> => {
      const created = dataOf<{ tracks: { id: string; play_url: string }[] }>(
        await api.get(`/api/v1/generations/${id}`),
      );
      return created.tracks[0] as { id: string; play_url: string };
    };
    const track = await trackOf();
    const pathOf = (url: string): string => url.slice(target.url.length);
    const statusOf = async (url: string): Promise<number> => (await flood(1, pathOf(url), () => ({}), "HEAD"))[0] ?? 0;
    expect(await statusOf(track.play_url)).to.equal(200);
    await run("library", "share", track.id);
    await run("library", "unshare", track.id);
    const unshared = await measured("links after unshare", target, () =>
      flood(sized(50, 5_000), pathOf(track.play_url)),
    );
    expect(new Set(unshared.result)).to.deep.equal(new Set([403]));
    const fresh = await trackOf();
    expect(await statusOf(fresh.play_url)).to.equal(200);
    await run("accounts", "suspend", account);
    await eventually("noticed", async () => (await statusOf(fresh.play_url)) === 404);
    const suspended = await measured("links of a suspended account", target, () =>
      flood(sized(50, 5_000), pathOf(fresh.play_url)),
    );
    expect(new Set(suspended.result)).to.deep.equal(new Set([404]));
  });
});
