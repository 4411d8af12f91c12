import { expect } from "chai";
import type { ProviderTrack } from "../../core/ports/music-provider.js";
import type { TrackId } from "../../core/ids.js";
import { dataOf } from "../support/api-client.js";
import { SCRIPTED_TRACK } from "../support/doubles/scripted-provider.js";
import { UNHEARD } from "../support/library-fixture.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

interface Generation {
  readonly status: string;
  readonly credits_charged: number;
  readonly tracks: readonly { readonly id: TrackId; readonly title: string; readonly duration: number | null }[];
}

describe("A provider with oversized values", () => {
  let test: TestApp;
  before(async () => {
    test = await startTestApp({ ...UNHEARD, work: true });
  });
  after(() => test.close());

  /** The track whose files all claim this duration. */
  async function generate(
    track: Partial<ProviderTrack>,
    durationSeconds: number,
  ): Promise<{ readonly generation: Generation; readonly page: string }> {
    const assets = SCRIPTED_TRACK.assets.map((asset) => ({ ...asset, durationSeconds }));
    test.provider.behaviour = async () => ({ state: "completed", tracks: [{ ...SCRIPTED_TRACK, ...track, assets }] });
    const { api } = await test.account();
    const { id } = dataOf<{ readonly id: string }>(await api.generate(undefined, { Prefer: "wait=20" }));
    const generation = dataOf<Generation>(await api.get(`/api/v1/generations/${id}`));
    const { shareToken } = await test.app.library.manage.share(generation.tracks[0]?.id as TrackId);
    return { generation, page: await (await fetch(`${test.url}/share/${shareToken}`)).text() };
  }

  for (const durationSeconds of [1e308, Infinity, Number.NaN, -1]) {
    it(`with a track of ${durationSeconds} seconds completes the job with an unknown duration`, async () => {
      const { generation, page } = await generate({ bpm: durationSeconds }, durationSeconds);
      expect([generation.status, generation.credits_charged]).to.deep.equal(["completed", 10]);
      expect(generation.tracks.map(({ duration }) => duration)).to.deep.equal([null]);
      expect(page).to.not.match(/Infinity|NaN|1e\+?308/);
      expect(page).to.include("–:––");
    });
  }

  it("has its titles and tags truncated, and control characters removed", async () => {
    const title = `\u001b]0;owned\u0007Rain\u202e\u009b31m ${"x".repeat(5_000_000)}`;
    const mood = Array.from({ length: 5_000 }, (_, index) => `mood ${index} ${"y".repeat(500)}`);
    const { generation, page } = await generate({ title, tags: { mood, activity: [], genre: [], other: [] } }, 12);
    expect(generation.tracks[0]?.title).to.equal(`]0;owned Rain 31m ${"x".repeat(182)}`);
    expect(JSON.stringify(generation).length).to.be.lessThan(20_000);
    // oxlint-disable-next-line no-control-regex -- they must not be in the output
    expect(page).to.not.match(/[\u0000-\u0008\u000e-\u001f\u0080-\u009f\u202e]/);
  });

  it("has its lyrics truncated and control characters removed; invalid word times alone are dropped", async () => {
    const text = `\u001b]0;owned\u0007Rain\u202e\r\n\u009b31m ${"x".repeat(5_000_000)}`;
    const words = [{ text: "Rain", startSeconds: 0, endSeconds: Infinity }];
    const { generation } = await generate({ lyrics: { text, words } }, 12);
    expect([generation.status, generation.credits_charged]).to.deep.equal(["completed", 10]);
    const { lyrics } = await test.app.library.manage.trackWithLyrics(generation.tracks[0]?.id as TrackId);
    expect(lyrics?.text.slice(0, 20)).to.equal("]0;ownedRain\n31m xxx");
    expect([lyrics?.text.length, lyrics?.words]).to.deep.equal([50_000, null]);
  });
});
