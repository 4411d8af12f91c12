import { expect } from "chai";
import { type ApiResponse, dataOf, errorOf, refusalOf } from "../support/api-client.js";
import { LibraryFixture, UNHEARD } from "../support/library-fixture.js";
import { SplittingProvider, stem } from "../support/splitting-provider.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

interface SplitOptions {
  readonly path?: string;
  readonly id?: string | undefined;
  /** null: none. */
  readonly key?: string | null;
  readonly body?: unknown;
}

/** Each with its operation, and what it costs here. */
const SPLITS = [
  { path: "stems", operation: "stem_split", cost: 8 },
  { path: "vocal-removal", operation: "vocal_removal", cost: 5 },
] as const;

describe("Splits of a track, asked for over the API", () => {
  let test: TestApp;
  let library: LibraryFixture;
  let caller: TestAccount;
  let trackId: string;
  before(async () => {
    const provider = new SplittingProvider();
    test = await startTestApp({
      ...UNHEARD,
      work: true,
      plugins: [provider.definition],
      settings: {
        stemSplit: { creditCost: 8, providers: ["scripted"] },
        vocalRemoval: { creditCost: 5, providers: ["scripted"] },
        rateLimits: { generation: { perMinute: 10, perDay: 1_000 } },
      },
    });
    provider.behaviour = () =>
      Promise.resolve({ state: "completed", tracks: [], stems: [stem("vocals"), stem("instrumental")] });
    library = await LibraryFixture.open(test.app);
  });
  after(async () => {
    await library.close();
    await test.close();
  });
  beforeEach(async () => {
    caller = await test.account({ credits: 100 });
    ({ rain: trackId = "" } = await library.add(caller.account.id, { rain: { title: "Rain" } }));
  });

  const split = (
    { api }: TestAccount,
    { path = "stems", id = trackId, key = "one", body }: SplitOptions = {},
  ): Promise<ApiResponse> =>
    api.send("POST", `/api/v1/tracks/${id}/${path}`, {
      headers: {
        ...(key === null ? {} : { "Idempotency-Key": key }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body }),
    });
  const available = async ({ api }: TestAccount): Promise<unknown> =>
    dataOf(await api.get("/api/v1/credits"))["available"];

  for (const { path, operation, cost } of SPLITS) {
    it(`accept ${path}, reserve its credits, and say where to poll`, async () => {
      const response = await split(caller, { path });
      expect(response.status).to.equal(202);
      const { job_id: id, created_at, ...accepted } = dataOf<{ job_id: string; created_at: string }>(response);
      const url = `${test.url}/api/v1/jobs/${id}`;
      expect(accepted).to.deep.equal({
        operation,
        status: "queued",
        track_id: trackId,
        credits_reserved: cost,
        status_url: url,
      });
      expect(response.headers.get("location")).to.equal(url);
      expect(response.headers.get("ratelimit")).to.match(/^"generation-minute";r=9/);
      expect(created_at).to.match(/Z$/);
      await test.app.generations.wait(id);
      const job = dataOf<{ status: string; outputs: { label: string }[] }>(await caller.api.get(`/api/v1/jobs/${id}`));
      expect(job).to.include({ status: "completed", operation, credits_charged: cost });
      expect(job.outputs.map(({ label }) => label)).to.deep.equal(["vocals", "instrumental"]);
      expect(await available(caller)).to.equal(100 - cost);
    });
  }

  it("replay the stored response to a repeated key, on the read allowance, and charge once", async () => {
    const body = { client: "shop", metadata: { take: 3 } };
    const first = await split(caller, { body });
    const again = await split(caller, { body });
    expect([again.status, again.text]).to.deep.equal([202, first.text]);
    expect(again.headers.get("idempotent-replayed")).to.equal("true");
    expect(again.headers.get("ratelimit")).to.match(/^"read-minute"/);
    const { job_id: id } = dataOf<{ job_id: string }>(first);
    expect((await test.app.generations.get(id)).request).to.deep.include(body);
    expect(await available(caller)).to.equal(92);
    const requests = [
      { body: { client: "shop", metadata: { take: 4 } } },
      { id: (await library.add(caller.account.id, { sun: {} }))["sun"], body },
    ];
    for (const request of requests)
      expect(refusalOf(await split(caller, request))).to.equal("409 idempotency_conflict");
    expect(refusalOf(await split(caller, { path: "vocal-removal", body }))).to.equal("409 idempotency_key_conflict");
    expect(refusalOf(await split(caller))).to.equal("409 idempotency_key_conflict");
  });

  it("appear in the usage of their endpoint with what they cost", async () => {
    await split(caller);
    await split(caller, { path: "vocal-removal", key: "two" });
    const used = async (endpoint: string): Promise<unknown> => {
      const report = dataOf<{ summary: object; events: { credits_used: number }[] }>(
        await caller.api.get(`/api/v1/usage?endpoint=${encodeURIComponent(endpoint)}`),
      );
      return [report.summary, report.events.map(({ credits_used: credits }) => credits)];
    };
    const counts = { requests: 1, failed_requests: 0, credits_refunded: 0 };
    expect(await used("/api/v1/tracks/{id}/stems")).to.deep.equal([{ ...counts, credits_used: 8 }, [8]]);
    expect(await used("/api/v1/tracks/{id}/vocal-removal")).to.deep.equal([{ ...counts, credits_used: 5 }, [5]]);
    expect(await used("/api/v1/generations")).to.deep.equal([{ ...counts, requests: 0, credits_used: 0 }, []]);
    expect(dataOf<{ summary: object }>(await caller.api.get("/api/v1/usage")).summary).to.include({ credits_used: 13 });
  });

  it("are refused with nothing reserved", async () => {
    const other = await test.account({ credits: 4 });
    const { open } = await library.add(null, { open: { visibility: "public" } });
    const { still } = await library.add(caller.account.id, { still: { hasAudio: false } });
    const refusals = [
      [await split(caller, { key: null }), "400 idempotency_key_required"],
      [await split(caller, { body: { client: "" } }), "400 invalid_request"],
      [await split(caller, { body: { stems: 4 } }), "400 invalid_request"],
      [await split(caller, { body: [] }), "400 invalid_request"],
      [await split(caller, { id: "trk_unknown" }), "404 track_not_found"],
      [await split(caller, { id: still }), "404 track_not_found"],
      [await split(other), "404 track_not_found"],
      [await split(other, { id: open }), "402 insufficient_credits"],
      [await split(await test.account({ scopes: ["library:read"] })), "403 insufficient_scope"],
    ] as const;
    for (const [response, refusal] of refusals) expect(refusalOf(response)).to.equal(refusal);
    expect(await available(caller)).to.equal(100);
    expect(await available(other)).to.equal(4);
  });

  it("of a public track are paid by the caller", async () => {
    const { open } = await library.add(null, { open: { visibility: "public" } });
    expect((await split(caller, { id: open })).status).to.equal(202);
    expect(await available(caller)).to.equal(92);
  });

  it("draw on the generation limit", async () => {
    for (let each = 0; each < 10; each += 1) await split(caller, { key: null });
    expect(refusalOf(await split(caller))).to.equal("429 rate_limited");
    expect(refusalOf(await split(caller, { id: "trk_unknown" }))).to.equal("429 rate_limited");
    expect(await available(caller)).to.equal(100);
  });

  it("are offered by the details of a track, with their price and its waveform", async () => {
    const details = await caller.api.get(`/api/v1/tracks/${trackId}/details`);
    expect(dataOf(details)).to.deep.equal({
      waveform: null,
      splits: [
        { operation: "stem_split", credit_cost: 8, status: "available" },
        { operation: "vocal_removal", credit_cost: 5, status: "available" },
      ],
    });
    const other = await test.account();
    expect(refusalOf(await other.api.get(`/api/v1/tracks/${trackId}/details`))).to.equal("404 track_not_found");
  });
});

describe("Splits of a track where no provider can", () => {
  let test: TestApp;
  let library: LibraryFixture;
  before(async () => {
    test = await startTestApp({ ...UNHEARD });
    library = await LibraryFixture.open(test.app);
  });
  after(async () => {
    await library.close();
    await test.close();
  });

  it("are not offered, and name the track", async () => {
    const { account, api } = await test.account();
    const { rain } = await library.add(account.id, { rain: {} });
    expect(dataOf(await api.get(`/api/v1/tracks/${rain}/details`))["splits"]).to.deep.equal([]);
    const response = await api.send("POST", `/api/v1/tracks/${rain}/stems`, { headers: { "Idempotency-Key": "one" } });
    expect(errorOf(response)).to.deep.include({
      code: "invalid_request",
      details: { issues: [{ path: "path.id", message: "is a track that no provider here can split in this way" }] },
    });
  });
});
