import { expect } from "chai";
import { dataOf } from "../support/api-client.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

interface ShownTrack {
  readonly preview_audio_url: string | null;
  readonly thumbnail_url: string | null;
}

describe("A track of synth, which returns neither preview nor cover", function () {
  this.timeout(60_000);
  let test: TestApp;
  before(async () => {
    test = await startTestApp({ work: true, settings: { plugins: { synth: { enabled: true, threads: 1 } } } });
  });
  after(() => test.close());

  it("gets both from the host", async () => {
    const { api } = await test.account();
    const body = { model_id: "synth/instrumental", prompt: "calm piano", duration: 5 };
    const { id } = dataOf<{ readonly id: string }>(await api.generate(body, { Prefer: "wait=30" }));
    const { tracks } = dataOf<{ readonly tracks: readonly ShownTrack[] }>(await api.get(`/api/v1/generations/${id}`));
    const files = await Promise.all(
      tracks.flatMap((track) => [track.preview_audio_url, track.thumbnail_url]).map((url) => fetch(url ?? "")),
    );
    expect(files.map(({ status, headers }) => [status, headers.get("content-type")])).to.deep.equal([
      [200, "audio/mpeg"],
      [200, "image/png"],
    ]);
  });

  it("takes less than 5 MB for 30 seconds in all, the lossless master included", async () => {
    const { account } = await test.account();
    const input = { modelId: "synth/instrumental", prompt: "slow sad piano, rain", duration: 30 };
    const { id } = await test.app.generations.create(account.id, input);
    const { tracks } = await test.app.generations.wait(id);
    const assets = tracks.flatMap((track) => track.assets);
    expect(assets.map(({ role, contentType }) => `${role} ${contentType}`)).to.have.members([
      "mix audio/mpeg",
      "master audio/flac",
      "preview audio/mpeg",
      "cover image/png",
    ]);
    expect(assets.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)).to.be.below(5_000_000);
  });
});
