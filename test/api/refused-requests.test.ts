import { expect } from "chai";
import { dataOf } from "../support/api-client.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

interface Entry {
  readonly status_code: number;
  readonly count: number;
}

describe("A flood of requests over the limit", () => {
  let test: TestApp;
  before(async () => {
    test = await startTestApp({ settings: { rateLimits: { write: { perMinute: 1 } } } });
  });
  after(() => test.close());

  it("leaves at most 21 rows a minute in the request log, whose counts add up in the usage", async () => {
    const { api } = await test.account();
    const startedAt = Date.now();
    const statuses: number[] = [];
    for (let sent = 0; sent < 120; sent++) {
      statuses.push((await api.send("DELETE", "/api/v1/webhook-endpoints/whe_none")).status);
    }
    const refused = statuses.filter((status) => status === 429).length;
    // A window that ends meanwhile allows another request; each minute has its own rows.
    const minutes = Math.floor(Date.now() / 60_000) - Math.floor(startedAt / 60_000) + 1;
    expect(refused).to.be.at.least(119 - minutes);
    const { logs } = dataOf<{ logs: readonly Entry[] }>(await api.get("/api/v1/logs?limit=100"));
    const entries = logs.filter(({ status_code }) => status_code === 429);
    expect(entries.length).to.be.at.most(21 * minutes);
    expect(entries.reduce((sum, { count }) => sum + count, 0)).to.equal(refused);
    const usage = dataOf<{ summary: object; events: readonly Entry[] }>(await api.get("/api/v1/usage?status=429"));
    expect(usage.summary).to.include({ requests: refused, failed_requests: refused });
    expect(usage.events.reduce((sum, { count }) => sum + count, 0)).to.equal(refused);
  });
});
