import { expect } from "chai";
import { A_GENERATION, type ApiResponse, ApiClient, dataOf, issuePaths, refusalOf } from "../support/api-client.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { eventually } from "../support/process.js";
import { startTestApp, type TestAccount, type TestApp, type TestAppOptions } from "../support/test-app.js";
import { alongside, loggedText } from "./storage-reader.js";

interface LogEntry {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly status_code: number;
  readonly error_code: string | null;
  readonly request_bytes: number | null;
  readonly response_bytes: number | null;
  readonly job_id: string | null;
  readonly created_at: string;
  readonly count: number;
}

const DAY_MS = 86_400_000;

/** Oldest first. */
const keptPaths = (test: TestApp): Promise<string[]> =>
  alongside(test, async (_, { read }) =>
    (await read("fermata_request_log").orderBy("created_at").select<{ path: string }[]>("path")).map(
      ({ path }) => path,
    ),
  );

const logsOf = async ({ api }: TestAccount, query = ""): Promise<readonly LogEntry[]> =>
  dataOf<{ readonly logs: readonly LogEntry[] }>(await api.get(`/api/v1/logs${query}`)).logs;

describe("GET /api/v1/logs", () => {
  let test: TestApp;
  before(async () => {
    test = await startTestApp({ work: true });
  });
  after(() => test.close());

  it("is empty for an account without requests", async () => {
    expect((await (await test.account()).api.get("/api/v1/logs")).json).to.deep.equal({
      data: { logs: [], next_cursor: null },
    });
  });

  it("returns each request with all its fields, newest first", async () => {
    const caller = await test.account();
    const profile = await caller.api.get("/api/v1/me?page=2");
    const body = JSON.stringify(A_GENERATION);
    const created = await caller.api.generate(body, { Prefer: "wait=20", "Idempotency-Key": "k" });
    const jobId = dataOf<{ readonly id: string }>(created).id;
    const replayed = await caller.api.generate(body, { "Idempotency-Key": "k" });
    const read = await caller.api.get(`/api/v1/jobs/${jobId}`);
    const refused = await caller.api.generate("{}");
    const looked = await caller.api.send("HEAD", "/api/v1/me");
    const logs = await logsOf(caller);
    const entry = (response: ApiResponse, index: number, about: Partial<LogEntry>): LogEntry => ({
      id: response.headers.get("x-request-id") ?? "",
      method: "GET",
      path: "/api/v1/me",
      status_code: response.status,
      error_code: null,
      request_bytes: null,
      response_bytes: Buffer.byteLength(response.text),
      job_id: null,
      created_at: logs[index]?.created_at ?? "",
      count: 1,
      ...about,
    });
    const post = { method: "POST", path: "/api/v1/generations", request_bytes: body.length, job_id: jobId };
    expect(logs).to.deep.equal([
      entry(looked, 0, { method: "HEAD" }),
      entry(refused, 1, { ...post, request_bytes: 2, job_id: null, error_code: "invalid_request" }),
      entry(read, 2, { path: `/api/v1/jobs/${jobId}`, job_id: jobId }),
      entry(replayed, 3, post),
      entry(created, 4, post),
      entry(profile, 5, {}),
    ]);
    for (const { created_at } of logs) expect(created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it("returns 50 by default, 1 to 100 by limit", async () => {
    const caller = await test.account();
    await Promise.all(Array.from({ length: 102 }, () => caller.api.get("/api/v1/me")));
    expect(await logsOf(caller)).to.have.length(50);
    const all = await logsOf(caller, "?limit=100");
    expect(all).to.have.length(100);
    expect(await logsOf(caller, "?limit=1")).to.have.length(1);
    expect(await logsOf(caller, "?limit=2&unknown=1")).to.have.length(2);
    const order = all.map(({ created_at, id }) => `${created_at} ${id}`);
    expect(order).to.deep.equal([...order].sort().reverse());
  });

  for (const limit of ["", "0", "101", "-1", "1.5", "0x10", "1e1", "abc", "1&limit=2", "%00", "NaN", "9".repeat(400)]) {
    it(`refuses limit=${limit.slice(0, 12)}`, async () => {
      const { api } = await test.account();
      const response = await api.get(`/api/v1/logs?limit=${limit}`);
      expect(refusalOf(response)).to.equal("400 invalid_request");
      expect(issuePaths(response)).to.deep.equal(["query.limit"]);
    });
  }

  it("never returns another account's requests", async () => {
    const [caller, other] = [await test.account(), await test.account()];
    await other.api.get("/api/v1/me");
    expect(await logsOf(caller)).to.deep.equal([]);
    expect((await logsOf(caller)).map(({ path }) => path)).to.deep.equal(["/api/v1/logs"]);
  });

  it("requires the scope profile:read", async () => {
    const { api } = await test.account({ scopes: ["credits:read"] });
    expect(refusalOf(await api.get("/api/v1/logs"))).to.equal("403 insufficient_scope");
    expect(refusalOf(await test.anonymous.get("/api/v1/logs"))).to.equal("401 authentication_required");
  });

  it("stores no query, no body and no secret", async () => {
    const caller = await test.account();
    const body = {
      model_id: "scripted/song",
      prompt: "a prompt to itself",
      lyrics: "words to sing",
      metadata: { note: "between us" },
    };
    const response = await caller.api.generate(body, { "Idempotency-Key": "key-of-a-retry", Cookie: "session=crumbs" });
    await caller.api.generate({ ...body, unknown: "field" }, { "Idempotency-Key": "another-key" });
    await caller.api.get("/api/v1/me?token=in-the-query");
    await caller.api.get(`/api/v1/jobs/${caller.key}`);
    await caller.api.get(`/api/v1/jobs/${"x".repeat(4_000)}`);
    const logs = await logsOf(caller);
    expect(logs).to.have.length(5);
    expect(logs[1]?.path).to.equal("/api/v1/jobs/frm_[redacted]");
    expect(logs[0]?.path)
      .to.match(/^\/api\/v1\/jobs\/x+…$/)
      .and.have.length(255);
    const kept = `${JSON.stringify(logs)} ${await loggedText(test)}`;
    expect(kept).to.include(dataOf<{ readonly id: string }>(response).id);
    for (const secret of [
      caller.key.slice(4),
      "key-of-a-retry",
      "another-key",
      "crumbs",
      "in-the-query",
      "to itself",
      "words",
      "between us",
      "127.0.0.1",
    ]) {
      expect(kept).not.to.include(secret);
    }
  });
});

describe("The request log", () => {
  const opened: TestApp[] = [];
  const open = async (options: TestAppOptions): Promise<TestApp> => {
    const test = await startTestApp(options);
    opened.unshift(test);
    return test;
  };
  afterEach(async () => {
    for (const test of opened.splice(0)) await test.close();
  });

  it("stores the refused requests of an authenticated caller, whatever the reason", async () => {
    const limited = await open({ settings: { rateLimits: { read: { perMinute: 2, perDay: 9 } } } });
    const caller = await limited.account({ scopes: ["profile:read"] });
    const otherAccount = await limited.account({ acceptTerms: false });
    await otherAccount.api.get("/api/v1/me");
    await caller.api.get("/api/v1/credits");
    for (let sent = 0; sent < 3; sent++) await caller.api.get("/api/v1/me");
    await limited.app.stop();
    const shown = async ({ account }: TestAccount): Promise<unknown[]> => {
      const found = await alongside(limited, ({ requestLog }) =>
        requestLog.list({ accountId: account.id, from: 0, to: Date.now() + DAY_MS }, 10),
      );
      return found.map(({ status, errorCode }) => [status, errorCode]);
    };
    expect(await shown(caller)).to.deep.equal([
      [429, "rate_limited"],
      [200, null],
      [200, null],
      [403, "insufficient_scope"],
    ]);
    expect(await shown(otherAccount)).to.deep.equal([[403, "api_terms_not_accepted"]]);
  });

  it("returns the last 30 days, and deletes older rows", async () => {
    const clock = new ManualClock();
    const test = await open({ clock, work: true });
    const caller = await test.account();
    const created = clock.now();
    await caller.api.get("/api/v1/credits");
    clock.set(created + 1);
    await caller.api.get("/api/v1/me");
    clock.set(created + 30 * DAY_MS + 1);
    expect((await logsOf(caller)).map(({ path }) => path)).to.deep.equal(["/api/v1/me"]);
    expect(await keptPaths(test)).to.deep.equal(["/api/v1/credits", "/api/v1/me"]);
    // A maintenance run in progress sleeps only later: time passes until one has seen the date.
    await eventually("the old rows are deleted", async () => {
      await clock.advance(10_000);
      return !(await keptPaths(test)).includes("/api/v1/me");
    });
    await test.app.stop();
    expect(await keptPaths(test)).to.deep.equal(["/api/v1/logs"]);
  });

  it("is written a second after the responses, for other processes to read", async () => {
    const clock = new ManualClock();
    const secrets = { key: "a key that only the two of them share" };
    const first = await open({ clock, settings: { secrets } });
    const second = await open({ clock, settings: { secrets, storage: { url: first.app.settings.storage.url } } });
    const caller = await first.account();
    const elsewhere = new ApiClient(second.url, caller.key);
    await caller.api.get("/api/v1/me");
    await clock.advance(999);
    expect((await logsOf({ ...caller, api: elsewhere })).map(({ path }) => path)).to.deep.equal([]);
    await clock.advance(1);
    while ((await keptPaths(first)).length === 0);
    clock.set(clock.now() + 1);
    expect((await logsOf({ ...caller, api: elsewhere })).map(({ path }) => path)).to.deep.equal([
      "/api/v1/logs",
      "/api/v1/me",
    ]);
  });

  it("has every finished request after the process has stopped", async () => {
    const test = await open({ clock: new ManualClock() });
    const caller = await test.account();
    await Promise.all(Array.from({ length: 30 }, () => caller.api.get("/api/v1/me")));
    await test.app.stop();
    const kept = await alongside(test, ({ requestLog }) =>
      requestLog.count({ accountId: caller.account.id, from: 0, to: Number.MAX_SAFE_INTEGER }),
    );
    expect(kept).to.deep.equal({ requests: 30, failed: 0 });
  });
});
