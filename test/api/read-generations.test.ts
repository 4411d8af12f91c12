import { expect } from "chai";
import { type ApiResponse, dataOf, issuePaths, refusalOf } from "../support/api-client.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { submitCompletes, submitFails } from "../support/doubles/scripted-provider.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

interface Generation {
  readonly id: string;
  readonly status: string;
  readonly created_at: string;
  readonly completed_at: string | null;
  readonly tracks: readonly { readonly id: string; readonly play_url: string; readonly thumbnail_url: string }[];
}

const WAIT = { Prefer: "wait=20" };

describe("GET /api/v1/generations", () => {
  let test: TestApp;
  before(async () => {
    test = await startTestApp({ work: true });
  });
  beforeEach(() => {
    test.provider.behaviour = submitCompletes;
  });
  after(() => test.close());

  const idOf = (response: ApiResponse): string => dataOf<{ readonly id: string }>(response).id;

  it("lists the account's own generations, newest first", async () => {
    const [{ api }, other] = [await test.account(), await test.account()];
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) ids.unshift(idOf(await api.generate(undefined, WAIT)));
    await other.api.generate(undefined, WAIT);
    const { generations } = dataOf<{ readonly generations: readonly Generation[] }>(
      await api.get("/api/v1/generations"),
    );
    expect(generations.map(({ id }) => id)).to.deep.equal(ids);
  });

  it("lists each generation as GET /generations/{id} returns it, links included", async () => {
    // The expiry in a link is in whole seconds: a second that ends between the two requests would change it.
    const clock = new ManualClock();
    const still = await startTestApp({ work: true, clock });
    try {
      const { api } = await still.account();
      const id = idOf(await api.generate(undefined, WAIT));
      const { generations } = dataOf<{ readonly generations: readonly Generation[] }>(
        await api.get("/api/v1/generations"),
      );
      expect(generations).to.deep.equal([dataOf(await api.get(`/api/v1/generations/${id}`))]);
    } finally {
      await still.close();
    }
  });

  it("is empty for an account without generations", async () => {
    const { api } = await test.account();
    expect((await api.get("/api/v1/generations")).json).to.deep.equal({ data: { generations: [], next_cursor: null } });
  });

  it("returns 20 by default, 1 to 50 by limit", async () => {
    const { api } = await test.account();
    await Promise.all(Array.from({ length: 51 }, () => api.generate({ model_id: "scripted/beat", prompt: "rain" })));
    const count = async (query: string): Promise<number> =>
      dataOf<{ readonly generations: readonly unknown[] }>(await api.get(`/api/v1/generations${query}`)).generations
        .length;
    expect(await count("")).to.equal(20);
    expect(await count("?limit=1")).to.equal(1);
    expect(await count("?limit=50")).to.equal(50);
    expect(await count("?unknown=1&limit=2")).to.equal(2);
  });

  for (const limit of ["", "0", "51", "-1", "1.5", "0x10", "1e1", "abc", "1&limit=2", "%00", "NaN", "9".repeat(400)]) {
    it(`refuses limit=${limit.slice(0, 12)}`, async () => {
      const { api } = await test.account();
      const response = await api.get(`/api/v1/generations?limit=${limit}`);
      expect(refusalOf(response)).to.equal("400 invalid_request");
      expect(issuePaths(response)).to.deep.equal(["query.limit"]);
    });
  }

  it("requires the scope generations:read", async () => {
    const { api } = await test.account({ scopes: ["generations:create"] });
    for (const path of ["/api/v1/generations", "/api/v1/generations/job_x", "/api/v1/jobs/job_x"]) {
      expect(refusalOf(await api.get(path))).to.equal("403 insufficient_scope");
    }
  });

  describe("/{id}", () => {
    it("returns a completed generation with its tracks", async () => {
      const { api } = await test.account();
      const id = idOf(await api.generate(undefined, WAIT));
      const generation = dataOf<Generation>(await api.get(`/api/v1/generations/${id}`));
      const [track] = generation.tracks;
      expect(generation).to.deep.equal({
        id,
        status: "completed",
        model_id: "scripted/song",
        credits_charged: 10,
        created_at: generation.created_at,
        completed_at: generation.completed_at,
        tracks: [
          {
            id: track?.id,
            title: "Rain on a tin roof",
            artist_label: "Scripted Provider",
            bpm: 96,
            duration: 12.346,
            play_url: track?.play_url,
            share_url: null,
            thumbnail_url: track?.thumbnail_url,
            preview_audio_url: null,
          },
        ],
      });
      expect(track?.id).to.match(/^trk_/);
      expect(track?.play_url).to.match(new RegExp(`^${test.url}/audio/.+\\.mp3\\?expires=\\d+&signature=`));
      expect(track?.thumbnail_url).to.match(new RegExp(`^${test.url}/audio/.+\\.png\\?`));
      expect(Date.parse(generation.completed_at ?? "")).to.be.at.least(Date.parse(generation.created_at));
    });

    it("returns a failed generation as refunded, without tracks", async () => {
      test.provider.behaviour = submitFails("failed");
      const { api } = await test.account({ credits: 10 });
      const id = idOf(await api.generate(undefined, WAIT));
      const generation = dataOf<Record<string, unknown>>(await api.get(`/api/v1/generations/${id}`));
      expect(generation).to.include({ status: "failed", credits_charged: 0 });
      expect(generation["tracks"]).to.deep.equal([]);
      expect(generation["completed_at"]).to.be.a("string");
      expect(dataOf(await api.get("/api/v1/credits"))).to.include({ available: 10, total_spent: 0 });
    });

    it("returns 404 for unknown generations and for those of other accounts", async () => {
      const [{ api }, other] = [await test.account(), await test.account()];
      const foreign = idOf(await other.api.generate());
      for (const id of [
        foreign,
        "job_01m7ysy25j6pcsftb5nnfsysak",
        "job_",
        foreign.toUpperCase(),
        `${foreign}%20`,
        "%00",
        "🎵",
      ]) {
        expect(refusalOf(await api.get(`/api/v1/generations/${id}`)), id).to.equal("404 job_not_found");
        expect(refusalOf(await api.get(`/api/v1/jobs/${id}`)), id).to.equal("404 job_not_found");
      }
    });
  });
});
