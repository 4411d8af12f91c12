import { expect } from "chai";
import type { ProviderTrack } from "../../core/ports/music-provider.js";
import { dataOf } from "../support/api-client.js";
import { decodeMp3 } from "../support/audio-analysis.js";
import { aChord, mp3File } from "../support/audio-files.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

interface ShownTrack {
  readonly id: string;
  readonly duration: number | null;
  readonly play_url: string | null;
  readonly preview_audio_url: string | null;
  readonly thumbnail_url: string | null;
}

describe("A generation whose provider gives nothing but the sound", function () {
  this.timeout(60_000);
  let test: TestApp;
  before(async () => {
    test = await startTestApp({ work: true });
  });
  after(() => test.close());

  async function generate(bytes: Uint8Array): Promise<ShownTrack> {
    const track: ProviderTrack = {
      title: "Rain",
      bpm: null,
      tags: { mood: [], activity: [], genre: [], other: [] },
      assets: [{ role: "mix", label: "full", contentType: "audio/mpeg", durationSeconds: null, source: { kind: "bytes", bytes } }],
    };
    test.provider.behaviour = () => Promise.resolve({ state: "completed", tracks: [track] });
    const { api } = await test.account();
    const { id } = dataOf<{ readonly id: string }>(await api.generate(undefined, { Prefer: "wait=30" }));
    const { tracks } = dataOf<{ readonly tracks: readonly [ShownTrack] }>(await api.get(`/api/v1/generations/${id}`));
    return tracks[0];
  }

  it("gets its length, a preview, a cover and, on its page, a waveform", async () => {
    const shown = await generate(await mp3File(aChord(40, (second) => (second < 20 ? 0.1 : 0.8), { sampleRate: 32_000, channelCount: 1 })));
    expect(shown.duration).to.be.closeTo(40, 0.1);
    const preview = await fetch(shown.preview_audio_url ?? "");
    expect(preview.headers.get("content-type")).to.equal("audio/mpeg");
    const { left, sampleRate } = await decodeMp3(new Uint8Array(await preview.arrayBuffer()));
    expect(left.length / sampleRate).to.be.closeTo(30, 0.2);
    const cover = await fetch(shown.thumbnail_url ?? "");
    expect([cover.status, cover.headers.get("content-type")]).to.deep.equal([200, "image/png"]);

    const { shareToken } = await test.app.library.manage.share(shown.id);
    const page = await test.anonymous.get(`/share/${shareToken}`);
    const heights = new Set([...page.text.matchAll(/v(\d+)M/g)].map(([, height]) => height));
    expect(heights.size).to.be.above(1);
  });

  it("is delivered all the same when nobody can make out what it is", async () => {
    const shown = await generate(Buffer.concat([Buffer.from("ID3\x04\0\0\0\0\0\0", "latin1"), Buffer.alloc(20_000, 0x5a)]));
    expect([shown.duration, shown.preview_audio_url]).to.deep.equal([null, null]);
    expect(shown.play_url).not.to.equal(null);
    expect(shown.thumbnail_url).not.to.equal(null);
    expect(test.logger.lines.filter(({ message }) => message === "A track could not be listened to")).to.have.length(1);
  });
});
