import { expect } from "chai";
import sinon from "sinon";
import { KnexAccountStore } from "../../adapters/storage/sql/accounts/account-store.js";
import { KnexLibraryStore } from "../../adapters/storage/sql/library/library-store.js";
import { errorOf, refusalOf } from "../support/api-client.js";
import { RawConnection } from "../support/attack/index.js";
import { eventually } from "../support/process.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const CONCURRENT = 3;
const FORWARDED = { "X-Forwarded-For": "192.0.2.1" };

describe("The request budget of paths without a key", () => {
  let test: TestApp;
  let held: RawConnection[];
  beforeEach(async () => {
    held = [];
    test = await startTestApp({
      settings: {
        http: { port: 0, trustProxy: ["loopback"] },
        rateLimits: { ...PLENTIFUL, anonymous: { concurrent: CONCURRENT } },
      },
    });
  });
  afterEach(async () => {
    for (const connection of held) connection.destroy();
    await test.close();
  });

  const PLENTY = { perMinute: 1_000_000, perDay: 1_000_000 };
  const PLENTIFUL = { read: PLENTY, generation: PLENTY, write: PLENTY, authFailures: { perMinute: 1_000_000 } };

  /** Uses up the budget of an address, with requests of one connection that wait for the storage. */
  async function hold(address: string): Promise<void> {
    const asked = new Promise<void>((resolve) => {
      sinon.stub(KnexLibraryStore.prototype, "findSharedTrack").callsFake(() => {
        resolve();
        return new Promise(() => undefined);
      });
    });
    const connection = await RawConnection.open(test.url, { reads: true });
    held.push(connection);
    connection.send(requestsFor(address));
    await asked;
  }

  /** The maximum number of concurrent requests, in one packet. */
  function requestsFor(address: string): string {
    const head = [`GET /share/${"0".repeat(22)} HTTP/1.1`, "Host: x", `X-Forwarded-For: ${address}`];
    return `${head.join("\r\n")}\r\n\r\n`.repeat(CONCURRENT);
  }

  const docs = async (address: string): Promise<number> =>
    (await test.anonymous.get("/docs", { "X-Forwarded-For": address })).status;

  it("returns 429 with Retry-After and closes the connection, on every such path and for wrong keys", async () => {
    await hold("192.0.2.1");
    const shares = ["/share/x", "/share/x/audio", "/share/page.css"];
    for (const path of ["/docs", "/openapi.json", "/audio/x", ...shares, "/metrics", "/api/v1/me"]) {
      const response = await test.anonymous.get(path, FORWARDED);
      expect(refusalOf(response), path).to.equal("429 rate_limited");
      expect([response.headers.get("retry-after"), response.headers.get("connection")], path).to.deep.equal([
        "5",
        "close",
      ]);
      const details = { limit: CONCURRENT, window_seconds: 0, retry_after_seconds: 5 };
      expect(errorOf(response).details, path).to.deep.equal(details);
    }
    const callback = await test.anonymous.send("POST", "/callbacks/synth/job_1/x", { body: "{}", headers: FORWARDED });
    expect(refusalOf(callback)).to.equal("429 rate_limited");
  });

  it("does not limit requests with a key, the health pages and other networks", async () => {
    await hold("192.0.2.1");
    const { api } = await test.account();
    expect((await api.get("/api/v1/me", FORWARDED)).status).to.equal(200);
    for (const path of ["/healthz", "/readyz"]) {
      expect((await test.anonymous.get(path, FORWARDED)).status).to.equal(200);
    }
    expect(await docs("192.0.2.2")).to.equal(200);
  });

  it("is released by clients with wrong keys that were gone before they were refused", async () => {
    const { key } = await test.account();
    let refuse = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      sinon.stub(KnexAccountStore.prototype, "findKeyHolders").callsFake(() => {
        resolve();
        return new Promise((found) => (refuse = () => found(new Map())));
      });
    });
    const connection = await RawConnection.open(test.url, { reads: true });
    held.push(connection);
    const head = ["GET /api/v1/me HTTP/1.1", "Host: x", "X-Forwarded-For: 192.0.2.1", `Authorization: Bearer ${key}`];
    connection.send(`${head.join("\r\n")}\r\n\r\n`.repeat(CONCURRENT));
    await asked;
    connection.destroy();
    const gone = (): number => test.logger.lines.filter(({ fields }) => fields["status"] === 499).length;
    await eventually("the clients are gone", () => gone() === CONCURRENT);
    refuse();
    expect(await docs("192.0.2.1")).to.equal(200);
  });

  it("is released when the client disconnects, including queued requests", async () => {
    await hold("192.0.2.1");
    held[0]?.destroy();
    await eventually("room again", async () => (await docs("192.0.2.1")) === 200);
    sinon.restore();
    const connection = await RawConnection.open(test.url, { reads: true });
    held.push(connection);
    // The first of them is still running when the last one arrives.
    connection.send(requestsFor("192.0.2.1"));
    await eventually("all responses", () => connection.statuses.length === CONCURRENT);
    expect(connection.statuses).to.deep.equal(Array(CONCURRENT).fill(404));
  });
});
