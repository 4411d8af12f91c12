import { expect } from "chai";
import type { JobQueue } from "../../core/ports/job-queue.js";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import { loadSettings } from "../../config/index.js";
import { errorOf, rawRequest, refusalOf } from "../support/api-client.js";
import { submitCompletes } from "../support/doubles/scripted-provider.js";
import { eventually } from "../support/process.js";
import { sqliteStorage } from "../support/databases.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const DEAD_QUEUE: JobQueue = {
  notify: () => undefined,
  prepare: () => Promise.resolve(),
  listen: () => Promise.resolve(),
  check: () => Promise.reject(new Error("connection refused by amqp://user:secret@broker")),
  close: () => Promise.resolve(),
};

describe("Status pages", () => {
  let test: TestApp;
  before(async () => {
    test = await startTestApp({ work: true });
  });
  after(() => test.close());

  it("report that the process is up and healthy, without a key", async () => {
    for (const path of ["/healthz", "/readyz"]) {
      const response = await test.anonymous.get(path);
      expect([response.status, response.json]).to.deep.equal([200, { status: "ok" }]);
    }
  });

  it("count requests by route, method and status", async () => {
    const { api } = await test.account();
    for (const id of ["a", "b"]) await api.get(`/api/v1/jobs/${id}`);
    await test.anonymous.get("/nothing/at/all");
    const response = await test.anonymous.get("/metrics");
    expect(response.status).to.equal(200);
    expect(response.headers.get("content-type")).to.match(/^text\/plain; version=0\.0\.4/);
    expect(response.text).to.match(
      /^fermata_http_request_seconds_count\{method="GET",route="\/api\/v1\/jobs\/\{job_id\}",status="404"\} 2$/m,
    );
    expect(response.text).to.match(
      /^fermata_http_request_seconds_count\{method="GET",route="unmatched",status="404"\} 1$/m,
    );
  });

  it("count bought, delivered and wasted work of providers", async () => {
    const { api } = await test.account();
    const failure = new ProviderFailure("failed", "it broke", { billable: "yes" });
    for (const behaviour of [submitCompletes, () => Promise.reject(failure)] as const) {
      test.provider.behaviour = behaviour;
      await api.generate(undefined, { Prefer: "wait=20" });
    }
    const text = await eventually("the figures of the next second", async () => {
      const page = await test.anonymous.get("/metrics");
      return /^fermata_attempts_bought_total\{provider="scripted"\} 2$/m.test(page.text) && page.text;
    });
    expect(text).to.match(/^fermata_attempts_delivered_total\{provider="scripted"\} 1$/m);
    expect(text).to.match(/^fermata_attempts_wasted_total\{provider="scripted",reason="provider_failed"\} 1$/m);
  });

  it("hide the metrics when settings say so", async () => {
    const silent = await startTestApp({ settings: { metrics: { enabled: false } } });
    try {
      expect(refusalOf(await silent.anonymous.get("/metrics"))).to.equal("404 not_found");
    } finally {
      await silent.close();
    }
  });
});

const DEFAULT_METRICS = loadSettings({ env: {}, cwd: "/", overrides: { http: { port: 0 } } }).metrics;

describe("GET /metrics", () => {
  it("is served on a separate loopback port by default, and nowhere else", async () => {
    const test = await startTestApp({ settings: { http: { host: "0.0.0.0", port: 0 }, metrics: DEFAULT_METRICS } });
    try {
      expect(refusalOf(await test.anonymous.get("/metrics"))).to.equal("404 not_found");
      const { hostname, port, pathname } = new URL(test.metricsUrl ?? "");
      expect([hostname, pathname]).to.deep.equal(["127.0.0.1", "/metrics"]);
      expect(port).to.not.equal(new URL(test.url).port);
      const page = await fetch(test.metricsUrl ?? "");
      expect([page.status, page.headers.get("content-type")?.slice(0, 10)]).to.deep.equal([200, "text/plain"]);
      expect(await page.text()).to.match(/^fermata_http_request_seconds_count\{/m);
      for (const path of ["/", "/metrics/", "/healthz"]) {
        expect((await fetch(`http://${hostname}:${port}${path}`)).status, path).to.equal(404);
      }
    } finally {
      await test.close();
    }
  });

  it("is served on that port to an app that mounts the router, and once however often it is asked for", async () => {
    const test = await startTestApp({ listen: false, settings: { metrics: { port: 0 } } });
    try {
      const url = await test.app.listenForMetrics();
      expect(await test.app.listenForMetrics()).to.equal(url);
      expect((await fetch(url ?? "")).status).to.equal(200);
    } finally {
      await test.close();
    }
  });

  it("is served once per connection of its own port, however many requests are pipelined", async () => {
    const test = await startTestApp({ settings: { metrics: { port: 0 } } });
    try {
      const request = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
      const text = await rawRequest(test.metricsUrl ?? "", request.repeat(2_000));
      expect(text.match(/HTTP\/1\.1 200 /g)).to.have.length(1);
    } finally {
      await test.close();
    }
  });
});

describe("GET /readyz while a component is down", () => {
  it("is 200 and degraded while only the queue fails: POST is still served; no secrets", async () => {
    const test = await startTestApp({ queue: DEAD_QUEUE, work: true });
    try {
      const response = await test.anonymous.get("/readyz");
      expect(response.status).to.equal(200);
      expect(response.json).to.deep.equal({ status: "degraded", not_ready: ["queue"] });
      expect(response.text).not.to.include("secret");
      expect((await (await test.account()).api.generate()).status).to.equal(202);
    } finally {
      await test.close();
    }
  });

  it("is 503 with the names of all failing components once one of them is needed for requests", async () => {
    const storage = await sqliteStorage.open();
    const test = await startTestApp({ queue: DEAD_QUEUE, stores: storage });
    try {
      await storage.database.close();
      const response = await test.anonymous.get("/readyz");
      expect(refusalOf(response)).to.equal("503 service_unavailable");
      expect(errorOf(response).details).to.deep.equal({ not_ready: ["storage", "queue"] });
      expect(response.headers.get("retry-after")).to.equal("1");
      expect((await test.anonymous.get("/healthz")).status).to.equal(200);
    } finally {
      await test.close();
    }
  });
});
