import { expect } from "chai";
import { A_GENERATION, type ApiResponse, dataOf, issuePaths, refusalOf } from "../support/api-client.js";
import { submitCompletes, submitFails } from "../support/doubles/scripted-provider.js";
import { startTestApp, type TestApp } from "../support/test-app.js";
import { ledgerFigures } from "./storage-reader.js";
import { type Event, figuresOf, GENERATIONS, usageOf } from "./usage-report.js";

const WAIT = { Prefer: "wait=20" };

describe("GET /api/v1/usage", () => {
  let test: TestApp;
  before(async () => {
    test = await startTestApp({ work: true });
  });
  beforeEach(() => {
    test.provider.behaviour = submitCompletes;
  });
  after(() => test.close());

  it("is empty for an account without requests", async () => {
    expect(await usageOf(await test.account())).to.deep.equal({
      summary: { requests: 0, credits_used: 0, credits_refunded: 0, failed_requests: 0 },
      events: [],
      next_cursor: null,
    });
  });

  it("returns every finished request, newest first, with its cost", async () => {
    const caller = await test.account();
    const profile = await caller.api.get("/api/v1/me?no=matter");
    const created = await caller.api.generate(A_GENERATION, WAIT);
    const missing = await caller.api.get("/api/v1/jobs/job_nothing");
    const { summary, events } = await usageOf(caller);
    expect(summary).to.deep.equal({ requests: 3, credits_used: 10, credits_refunded: 0, failed_requests: 1 });
    const event = (response: ApiResponse, method: string, endpoint: string, used: number, index: number): Event => ({
      request_id: response.headers.get("x-request-id") ?? "",
      endpoint,
      method,
      status_code: response.status,
      credits_used: used,
      credits_refunded: 0,
      created_at: events[index]?.created_at ?? "",
      count: 1,
    });
    expect(events).to.deep.equal([
      event(missing, "GET", "/api/v1/jobs/{job_id}", 0, 0),
      event(created, "POST", GENERATIONS, 10, 1),
      event(profile, "GET", "/api/v1/me", 0, 2),
    ]);
    for (const { created_at } of events) expect(created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect((await usageOf(caller)).events[0]?.endpoint).to.equal("/api/v1/usage");
  });

  it("returns the figures of the ledger, however the jobs ended", async () => {
    const caller = await test.account({ credits: 46 });
    const { api, account } = caller;
    const responses = [await api.generate(A_GENERATION, { ...WAIT, "Idempotency-Key": "completed" })];
    for (const kind of ["failed", "unavailable", "timeout", "content_rejected"] as const) {
      test.provider.behaviour = submitFails(kind);
      responses.push(await api.generate(A_GENERATION, WAIT));
    }
    test.provider.behaviour = submitCompletes;
    responses.push(await api.generate({ model_id: "scripted/beat", prompt: "rain" }, WAIT));
    responses.push(await api.generate(A_GENERATION, { "Idempotency-Key": "completed" }));
    responses.push(await api.generate({ ...A_GENERATION, prompt: "hail" }, { "Idempotency-Key": "completed" }));
    responses.push(await api.generate({ ...A_GENERATION, duration: 1 }));
    for (let left = 33; left >= 10; left -= 10) responses.push(await api.generate(A_GENERATION, WAIT));
    responses.push(await api.generate());

    const { summary, events } = await usageOf(caller);
    const costs = events.map(({ status_code, credits_used, credits_refunded }) => [
      status_code,
      credits_used,
      credits_refunded,
    ]);
    expect(costs.reverse()).to.deep.equal([
      [202, 10, 0],
      [202, 10, 10],
      [502, 10, 10],
      [502, 10, 10],
      [202, 10, 10],
      [202, 3, 0],
      [202, 0, 0], // the replay
      [409, 0, 0],
      [400, 0, 0],
      [202, 10, 0],
      [202, 10, 0],
      [202, 10, 0],
      [402, 0, 0],
    ]);
    expect(responses.map(({ status }) => status)).to.deep.equal(costs.map(([status]) => status));
    expect(summary).to.deep.equal({ requests: 13, failed_requests: 5, credits_used: 83, credits_refunded: 40 });
    expect(summary).to.include(await ledgerFigures(test, account.id));
    expect(dataOf(await api.get("/api/v1/credits"))).to.include({ available: 46 - 83 + 40, total_spent: 83 - 40 });
  });

  it("omits jobs that no request created", async () => {
    const caller = await test.account();
    const input = { modelId: "scripted/song", prompt: "rain" };
    await test.app.generations.create(caller.account.id, input);
    expect(figuresOf(await usageOf(caller))).to.deep.equal([0, 0, 0, 0]);
  });

  it("returns the newest 100 and sums up all", async () => {
    const caller = await test.account();
    await caller.api.generate(A_GENERATION, WAIT);
    await Promise.all(Array.from({ length: 104 }, () => caller.api.get("/api/v1/me")));
    const { summary, events } = await usageOf(caller);
    expect(summary).to.deep.equal({ requests: 105, credits_used: 10, credits_refunded: 0, failed_requests: 0 });
    expect(events).to.have.length(100);
    expect(events.map(({ endpoint }) => endpoint)).to.deep.equal(Array(100).fill("/api/v1/me"));
    const moments = events.map(({ created_at }) => created_at);
    expect(moments).to.deep.equal([...moments].sort().reverse());
  });

  it("never returns another account's requests", async () => {
    const [caller, other] = [await test.account(), await test.account()];
    await other.api.generate(A_GENERATION, WAIT);
    await caller.api.get("/api/v1/me");
    const { summary, events } = await usageOf(caller);
    expect(summary).to.deep.equal({ requests: 1, credits_used: 0, credits_refunded: 0, failed_requests: 0 });
    expect(events).to.have.length(1);
  });

  it("requires the scope profile:read", async () => {
    const { api } = await test.account({ scopes: ["credits:read"] });
    expect(refusalOf(await api.get("/api/v1/usage"))).to.equal("403 insufficient_scope");
    expect(refusalOf(await test.anonymous.get("/api/v1/usage"))).to.equal("401 authentication_required");
  });

  describe("filters", () => {
    it("by client match the body's field of a generation and X-Client elsewhere, exactly", async () => {
      const caller = await test.account();
      const from = (client: string): Readonly<Record<string, string>> => ({ "X-Client": client });
      await caller.api.get("/api/v1/me", from("studio"));
      await caller.api.get(GENERATIONS, from("studio"));
      await caller.api.get("/api/v1/me", from("Studio"));
      await caller.api.get("/api/v1/me", from(""));
      await caller.api.get("/api/v1/me");
      await caller.api.generate({ ...A_GENERATION, client: "studio" }, { ...WAIT, ...from("Studio") });
      await caller.api.generate({ client: "studio" }, from("Studio"));
      await caller.api.generate(A_GENERATION, { ...WAIT, ...from("studio") });
      expect(figuresOf(await usageOf(caller, { client: "studio" }))).to.deep.equal([4, 1, 10, 0]);
      expect(figuresOf(await usageOf(caller, { client: "Studio" }))).to.deep.equal([1, 0, 0, 0]);
      for (const client of ["", "stud", "studio ", "🎧"]) {
        expect(figuresOf(await usageOf(caller, { client })), client).to.deep.equal([0, 0, 0, 0]);
      }
    });

    it("by endpoint match the route template, exactly", async () => {
      const caller = await test.account();
      const { id } = dataOf<{ readonly id: string }>(await caller.api.generate(A_GENERATION, WAIT));
      await caller.api.get(`${GENERATIONS}/${id}`);
      await caller.api.get(`${GENERATIONS}/${id}?x=1`);
      await caller.api.get(GENERATIONS);
      expect(figuresOf(await usageOf(caller, { endpoint: GENERATIONS }))).to.deep.equal([2, 0, 10, 0]);
      const reads = await usageOf(caller, { endpoint: `${GENERATIONS}/{id}` });
      expect(figuresOf(reads)).to.deep.equal([2, 0, 0, 0]);
      expect(reads.events.map(({ endpoint }) => endpoint)).to.deep.equal(Array(2).fill(`${GENERATIONS}/{id}`));
      for (const endpoint of [`${GENERATIONS}/${id}`, `${GENERATIONS}/`, "/API/v1/generations", "", "🎵"]) {
        expect(figuresOf(await usageOf(caller, { endpoint })), endpoint).to.deep.equal([0, 0, 0, 0]);
      }
    });

    it("by status match the status of the response", async () => {
      const caller = await test.account();
      await caller.api.generate(A_GENERATION, WAIT);
      test.provider.behaviour = submitFails("failed");
      await caller.api.generate(A_GENERATION, WAIT);
      test.provider.behaviour = submitFails("unavailable");
      await caller.api.generate(A_GENERATION, WAIT);
      await caller.api.get("/api/v1/jobs/job_nothing");
      expect(figuresOf(await usageOf(caller, { status: "202" }))).to.deep.equal([2, 0, 20, 10]);
      expect(figuresOf(await usageOf(caller, { status: "502" }))).to.deep.equal([1, 1, 10, 10]);
      expect(figuresOf(await usageOf(caller, { status: "404" }))).to.deep.equal([1, 1, 0, 0]);
      expect(figuresOf(await usageOf(caller, { status: "201" }))).to.deep.equal([0, 0, 0, 0]);
    });

    it("are combined, and unknown ones are ignored", async () => {
      const caller = await test.account();
      await caller.api.generate({ ...A_GENERATION, client: "studio" }, WAIT);
      await caller.api.generate({ ...A_GENERATION, client: "radio" }, WAIT);
      await caller.api.get(GENERATIONS, { "X-Client": "studio" });
      const query = {
        client: "studio",
        endpoint: GENERATIONS,
        status: "202",
        from: "2000-01-01T00:00:00Z",
        to: "2100-01-01T00:00:00Z",
      };
      const found = await usageOf(caller, { ...query, model: "x" });
      expect(figuresOf(found)).to.deep.equal([1, 0, 10, 0]);
      expect(found.events.map(({ method, credits_used }) => [method, credits_used])).to.deep.equal([["POST", 10]]);
      expect(figuresOf(await usageOf(caller, { ...query, status: "200" }))).to.deep.equal([1, 0, 0, 0]);
      expect(figuresOf(await usageOf(caller, { ...query, endpoint: "/api/v1/me" }))).to.deep.equal([0, 0, 0, 0]);
    });

    for (const [name, values] of [
      [
        "from",
        [
          "",
          "yesterday",
          "2026-11-21",
          "2026-11-21T06:30:00",
          "2026-11-21 06:30:00Z",
          "2026-02-31T00:00:00Z",
          "1795242600000",
          "🕕",
        ],
      ],
      ["to", ["", "2026-13-01T00:00:00Z", "2026-11-21T06:30Z", "+002026-11-21T06:30:00Z", "2026-11-21T06:30:00.Z"]],
      ["status", ["", "99", "600", "-1", "202.5", "2e2", "0xca", "ok", "202,404"]],
    ] as const) {
      for (const value of values) {
        it(`refuse ${name}=${value}`, async () => {
          const { api } = await test.account();
          const response = await api.get(`/api/v1/usage?${name}=${encodeURIComponent(value)}`);
          expect(refusalOf(response)).to.equal("400 invalid_request");
          expect(issuePaths(response)).to.deep.equal([`query.${name}`]);
        });
      }

      it(`refuse ${name} given twice`, async () => {
        const { api } = await test.account();
        const value = name === "status" ? "200" : "2026-11-21T06:30:00Z";
        const response = await api.get(`/api/v1/usage?${name}=${value}&${name}=${value}`);
        expect(refusalOf(response)).to.equal("400 invalid_request");
        expect(issuePaths(response)).to.deep.equal([`query.${name}`]);
      });
    }

    it("by status accept any from 100 to 599", async () => {
      const caller = await test.account();
      for (const status of ["100", "599"])
        expect(figuresOf(await usageOf(caller, { status })), status).to.deep.equal([0, 0, 0, 0]);
    });

    it("by client or endpoint accept the names of what every object has", async () => {
      const caller = await test.account();
      for (const endpoint of ["__proto__", "constructor", "toString"])
        expect(figuresOf(await usageOf(caller, { endpoint, client: endpoint })), endpoint).to.deep.equal([0, 0, 0, 0]);
    });

    for (const name of ["client", "endpoint"]) {
      it(`refuse ${name} given twice`, async () => {
        const response = await (await test.account()).api.get(`/api/v1/usage?${name}=a&${name}=b`);
        expect([refusalOf(response), ...issuePaths(response)]).to.deep.equal(["400 invalid_request", `query.${name}`]);
      });
    }

    it("report all validation errors of both moments, and refuse a from later than to", async () => {
      const { api } = await test.account();
      expect(issuePaths(await api.get("/api/v1/usage?from=x&to=y"))).to.deep.equal(["query.from", "query.to"]);
      const reversed = await api.get("/api/v1/usage?from=2026-11-21T06:30:00.001Z&to=2026-11-21T06:30:00Z");
      expect([refusalOf(reversed), ...issuePaths(reversed)]).to.deep.equal(["400 invalid_request", "query.from"]);
    });
  });
});
