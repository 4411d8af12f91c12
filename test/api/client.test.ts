import { expect } from "chai";
import {
  type ClientOptions,
  createClient,
  FermataError,
  GenerationFailedError,
  InsufficientCreditsError,
  type Progress,
} from "../../adapters/client/index.js";
import { SCRIPTED_TRACK, submitAccepts, submitCompletes, submitFails } from "../support/doubles/scripted-provider.js";
import { A_GENERATION } from "../support/api-client.js";
import { LibraryFixture, UNHEARD } from "../support/library-fixture.js";
import { SPLIT_SETTINGS, SplittingProvider, submitSplits } from "../support/doubles/splitting-provider.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";
import type { Snapshot } from "../../plugins/sdk/index.js";

async function thrownBy(call: Promise<unknown>): Promise<FermataError> {
  const error: unknown = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(FermataError);
  return error as FermataError;
}

describe("The client, of a server", () => {
  let test: TestApp;
  before(async () => {
    test = await startTestApp({ work: true, settings: { http: { maxJobStreamsPerAccount: 1 } } });
  });
  beforeEach(() => {
    test.provider.behaviour = submitCompletes;
  });
  after(() => test.close());

  const clientOf = ({ key }: TestAccount, options: Partial<ClientOptions> = {}) =>
    createClient({ baseUrl: test.url, apiKey: key, pollMs: 20, ...options });

  it("returns the finished generation with its tracks, and reports its progress", async () => {
    const account = await test.account();
    test.provider.behaviour = submitAccepts(50);
    let snapshot: Snapshot = { state: "running", nextPollMs: 50, progress: { percent: 40.7 } };
    test.provider.pollBehaviour = () => Promise.resolve(snapshot);
    const seen: Progress[] = [];
    const generation = await clientOf(account).generate(A_GENERATION, {
      onProgress: (progress) => {
        seen.push(progress);
        if (progress.percent === 40) snapshot = { state: "completed", tracks: [SCRIPTED_TRACK] };
      },
    });
    expect([generation.status, generation.tracks.length, generation.credits_charged]).to.deep.equal([
      "completed",
      1,
      10,
    ]);
    expect(seen.at(-1)).to.include({ state: "rendering", percent: 40 });
  });

  it("has the pages of every list, events too, and each item once", async () => {
    const account = await test.account();
    const client = clientOf(account);
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) ids.push((await client.generate(A_GENERATION)).id);
    const newest = [...ids].reverse();
    const query = { limit: 2 };
    const found: string[][] = [];
    for await (const { generations } of client.pages("/api/v1/generations", { params: { query } }))
      found.push(generations.map(({ id }) => id));
    expect(found).to.deep.equal([newest.slice(0, 2), newest.slice(2)]);
    const events: string[] = [];
    for await (const page of client.pages("/api/v1/events", { params: { query } }))
      events.push(...page.events.map(({ body }) => body.data.job_id));
    expect(events).to.deep.equal(ids);
    const tracks: string[] = [];
    for await (const page of client.pages("/api/v1/library/search", { params: { query: { q: "roof", limit: 1 } } }))
      tracks.push(...page.tracks.map(({ id }) => id));
    expect([tracks.length, new Set(tracks).size]).to.deep.equal([3, 3]);
    const models: string[] = [];
    for await (const page of client.pages("/api/v1/models", { params: { query: { provider: "scripted", limit: 1 } } }))
      models.push(...page.models.map(({ id }) => id));
    expect(models).to.deep.equal(["scripted/song", "scripted/beat"]);
    const requests: string[] = [];
    for await (const page of client.pages("/api/v1/usage", { params: { query: { status: 202, limit: 2 } } }))
      requests.push(...page.events.map(({ request_id: id }) => id));
    expect(new Set(requests).size).to.equal(3);
    for await (const { logs } of client.pages("/api/v1/logs")) expect(logs.length).to.be.above(3);
    for await (const { playlists } of client.pages("/api/v1/playlists")) expect(playlists).to.deep.equal([]);
    for await (const page of client.pages("/api/v1/webhook-endpoints"))
      expect(page.webhook_endpoints).to.deep.equal([]);
  });

  it("polls a job where the account follows as many as it may", async () => {
    const account = await test.account();
    test.provider.behaviour = submitAccepts(50);
    let snapshot: Snapshot = { state: "running", nextPollMs: 50 };
    test.provider.pollBehaviour = () => Promise.resolve(snapshot);
    const client = clientOf(account);
    const following = await client.POST("/api/v1/generations", {
      params: { header: { "Idempotency-Key": "first" } },
      body: A_GENERATION,
    });
    let followed = (): void => undefined;
    const isFollowed = new Promise<void>((resolve) => (followed = resolve));
    const first = client.wait(following.id, { onProgress: followed });
    await isFollowed;
    const responses: number[] = [];
    const watching = clientOf(account, {
      fetch: async (...args) => {
        const response = await fetch(...args);
        responses.push(response.status);
        return response;
      },
    });
    let end = (): void => undefined;
    const polled = new Promise<void>((resolve) => (end = resolve));
    const second = watching.wait(following.id, { onProgress: end });
    await polled;
    snapshot = { state: "completed", tracks: [SCRIPTED_TRACK] };
    expect([(await first).status, (await second).status]).to.deep.equal(["completed", "completed"]);
    expect(responses.slice(0, 2)).to.deep.equal([429, 200]);
  });

  it("throws the error of a failed generation by its code, with the job and the key", async () => {
    const account = await test.account();
    test.provider.behaviour = submitFails("failed");
    const error = await thrownBy(clientOf(account).generate(A_GENERATION, { idempotencyKey: "song-1" }));
    expect(error).to.be.instanceOf(GenerationFailedError);
    expect([error.status, error.idempotencyKey]).to.deep.equal([200, "song-1"]);
    expect(error.jobId).to.match(/^job_/);
  });

  it("gives the key away before the first try, and goes on with it after a crash", async () => {
    const account = await test.account();
    const kept: string[] = [];
    const lost = clientOf(account, { retries: 0, fetch: () => Promise.reject(new TypeError("crash")) });
    const error = await thrownBy(lost.generate(A_GENERATION, { onIdempotencyKey: (key) => void kept.push(key) }));
    expect([error.code, error.idempotencyKey]).to.deep.equal(["network_error", kept[0]]);
    const idempotencyKey = kept[0] as string;
    const first = await clientOf(account).generate(A_GENERATION, { idempotencyKey });
    const again = await clientOf(account).generate(A_GENERATION, { idempotencyKey });
    expect(again.id).to.equal(first.id);
    expect((await clientOf(account).GET("/api/v1/credits")).total_spent).to.equal(10);
  });

  it("throws refusals by their code, with what they say", async () => {
    const account = await test.account({ credits: 3 });
    const client = clientOf(account);
    const error = await thrownBy(client.generate(A_GENERATION));
    expect(error).to.be.instanceOf(InsufficientCreditsError);
    expect([error.status, error.details]).to.deep.equal([402, { required: 10, available: 3 }]);
    expect(error.requestId).to.match(/^req_/);
    const invalid = await thrownBy(client.GET("/api/v1/generations", { params: { query: { limit: 51 } } }));
    expect(invalid.name).to.equal("InvalidRequestError");
    const unknown = await thrownBy(createClient({ baseUrl: test.url, apiKey: "nonsense" }).GET("/api/v1/me"));
    expect(unknown.name).to.equal("InvalidApiKeyError");
  });

  it("calls operations of every method, and sends a slash in a parameter as %2F", async () => {
    const client = clientOf(await test.account());
    const path = { model_id: "scripted/song" };
    expect((await client.GET("/api/v1/models/{model_id}", { params: { path } })).id).to.equal("scripted/song");
    const endpoints = "/api/v1/webhook-endpoints" as const;
    const { id } = await client.POST(endpoints, { body: { url: "https://hooks.example.com/a" } });
    const params = { path: { id } };
    const changed = await client.PATCH(`${endpoints}/{id}`, { params, body: { status: "disabled" } });
    expect(changed.status).to.equal("disabled");
    expect(await client.DELETE(`${endpoints}/{id}`, { params })).to.deep.equal({ id, deleted: true });
    const playlist = await client.POST("/api/v1/playlists", { body: { title: "Evenings" } });
    const own = { path: { id: playlist.id } };
    expect(await client.DELETE("/api/v1/playlists/{id}", { params: own }), "without a body").to.deep.equal({});
  });

  it("stops waiting when the signal aborts; the job goes on", async () => {
    const account = await test.account();
    test.provider.behaviour = submitAccepts(50);
    test.provider.pollBehaviour = () => Promise.resolve({ state: "running", nextPollMs: 50 });
    const aborting = new AbortController();
    const error = await thrownBy(
      clientOf(account).generate(A_GENERATION, { signal: aborting.signal, onProgress: () => aborting.abort() }),
    );
    expect([error.name, error.code]).to.deep.equal(["AbortError", "aborted"]);
    const params = { path: { job_id: error.jobId ?? "" } };
    expect((await clientOf(account).GET("/api/v1/jobs/{job_id}", { params })).status).to.match(/^(queued|processing)$/);
  });
});

describe("The client, of a server that splits tracks", () => {
  let test: TestApp;
  let library: LibraryFixture;
  before(async () => {
    const provider = new SplittingProvider();
    provider.behaviour = submitSplits;
    test = await startTestApp({
      ...UNHEARD,
      work: true,
      plugins: [provider.definition],
      settings: SPLIT_SETTINGS,
    });
    library = await LibraryFixture.open(test.app);
  });
  after(async () => {
    await library.close();
    await test.close();
  });

  it("returns the finished job with its stems, with and without a body", async () => {
    const { account, key } = await test.account();
    const { rain = "" } = await library.add(account.id, { rain: { title: "Rain" } });
    const client = createClient({ baseUrl: test.url, apiKey: key });
    const split = await client.split(rain);
    const removed = await client.removeVocals(rain, { client: "karaoke" });
    for (const { status, outputs } of [split, removed])
      expect([status, outputs.map(({ label }) => label)]).to.deep.equal(["completed", ["vocals", "instrumental"]]);
    expect([split.operation, removed.operation]).to.deep.equal(["stem_split", "vocal_removal"]);
    const error = await thrownBy(client.split("trk_unknown"));
    expect([error.name, error.status]).to.deep.equal(["TrackNotFoundError", 404]);
  });
});
