import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { ProcessAudioAnalyser } from "../../adapters/audio/analyser/audio-analyser.js";
import { startProcess } from "../../adapters/sandbox/start-process.js";
import type { AudioAnalyser } from "../../core/index.js";
import type { ProviderTrack } from "../../core/ports/music-provider.js";
import { ApiClient, dataOf } from "../support/api-client.js";
import { decodeMp3 } from "../support/audio-analysis.js";
import { flacBomb } from "../support/audio-bombs.js";
import { aChord, mp3File } from "../support/audio-files.js";
import { pngBomb } from "../support/png-bomb.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

interface ShownTrack {
  readonly id: string;
  readonly duration: number | null;
  readonly play_url: string | null;
  readonly preview_audio_url: string | null;
  readonly thumbnail_url: string | null;
}

/** A provider that returns these bytes; without a cover by default. */
function trackOf(bytes: Uint8Array, cover?: Uint8Array): ProviderTrack {
  const asset = (role: "mix" | "cover", content: Uint8Array) =>
    ({
      role,
      label: "full",
      contentType: null,
      durationSeconds: null,
      source: { kind: "bytes", bytes: content },
    }) as const;
  return {
    title: "Rain",
    bpm: null,
    tags: { mood: [], activity: [], genre: [], other: [] },
    assets: [asset("mix", bytes), ...(cover === undefined ? [] : [asset("cover", cover)])],
  };
}

async function generateOn(
  test: TestApp,
  track: ProviderTrack,
): Promise<{ readonly id: string; readonly key: string; readonly shown: ShownTrack }> {
  test.provider.behaviour = () => Promise.resolve({ state: "completed", tracks: [track] });
  const { api, key } = await test.account();
  const { id } = dataOf<{ readonly id: string }>(await api.generate(undefined, { Prefer: "wait=30" }));
  return { id, key, shown: await shownBy(api, id) };
}

async function shownBy(api: ApiClient, id: string): Promise<ShownTrack> {
  const { tracks } = dataOf<{ readonly tracks: readonly [ShownTrack] }>(await api.get(`/api/v1/generations/${id}`));
  return tracks[0];
}

describe("A generation whose provider returns only the audio", function () {
  this.timeout(60_000);
  let test: TestApp;
  before(async () => {
    test = await startTestApp({ work: true });
  });
  after(() => test.close());

  it("gets a duration, a preview, a cover and, on its share page, a waveform", async () => {
    const { shown } = await generateOn(
      test,
      trackOf(
        await mp3File(aChord(40, (second) => (second < 20 ? 0.1 : 0.8), { sampleRate: 32_000, channelCount: 1 })),
      ),
    );
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

  it("is completed even when the analyser cannot decode the audio", async () => {
    const { shown } = await generateOn(
      test,
      trackOf(Buffer.concat([Buffer.from("ID3\x04\0\0\0\0\0\0", "latin1"), Buffer.alloc(20_000, 0x5a)])),
    );
    expect([shown.duration, shown.preview_audio_url]).to.deep.equal([null, null]);
    expect(shown.play_url).not.to.equal(null);
    expect(shown.thumbnail_url).not.to.equal(null);
    expect(test.logger.lines.filter(({ message }) => message === "A track could not be listened to")).to.have.length(1);
  });

  it("is completed without derived assets when its file is a bomb; the next generation gets them", async () => {
    const { shown } = await generateOn(test, trackOf(flacBomb(500)));
    expect([shown.duration, shown.preview_audio_url]).to.deep.equal([null, null]);
    const played = Buffer.from(await (await fetch(shown.play_url ?? "")).arrayBuffer());
    expect(played.equals(flacBomb(500))).to.equal(true);
    const next = await generateOn(test, trackOf(await mp3File(aChord(2, () => 0.5))));
    expect(next.shown.duration).to.be.closeTo(2, 0.1);
  });

  it("stores a cover that decompresses to gigabytes without decompressing it", async () => {
    const bomb = pngBomb(60_000, 60_000);
    expect(bomb.length).to.be.below(1_000);
    const before = process.memoryUsage.rss();
    const { shown } = await generateOn(test, trackOf(await mp3File(aChord(1, () => 0.5)), bomb));
    const cover = await fetch(shown.thumbnail_url ?? "");
    expect(Buffer.from(await cover.arrayBuffer()).equals(bomb)).to.equal(true);
    expect(process.memoryUsage.rss() - before).to.be.below(256 * 1024 * 1024);
  });
});

describe("A generation whose file kills its decoder", function () {
  this.timeout(60_000);
  let folder: string;
  let started = 0;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "fermata-decoder-"));
  });
  after(() => rm(folder, { recursive: true }));

  /** Every process is killed as soon as it is measured: none uses so little memory. */
  const start = (): Promise<TestApp> =>
    startTestApp({
      work: true,
      settings: {
        jobs: { maxAttempts: 3 },
        storage: { url: `sqlite:${join(folder, "fermata.sqlite")}` },
        audio: { url: `file:${join(folder, "audio")}` },
        secrets: { key: "a key that both runs of this test share" },
      },
      audioAnalyser: new ProcessAudioAnalyser({
        limits: { memoryBytes: 1 },
        start(...args) {
          started += 1;
          return startProcess(...args);
        },
      }),
    });

  it("is charged and completed without derived assets, and stays so after a restart", async () => {
    const first = await start();
    const { id, key, shown } = await generateOn(first, trackOf(await mp3File(aChord(2, () => 0.5))));
    const derived = ({ duration, preview_audio_url: preview }: ShownTrack): unknown[] => [duration, preview];
    expect([derived(shown), started]).to.deep.equal([[null, null], 1]);
    const [warning, ...others] = first.logger.lines.filter(({ level }) => level !== "info" && level !== "debug");
    expect([warning?.message, others]).to.deep.equal(["A track could not be listened to", []]);
    await first.close();

    const second = await start();
    // The job is resumed, and only the new job's file is analysed.
    await generateOn(second, trackOf(await mp3File(aChord(2, () => 0.5))));
    expect(started).to.equal(2);
    const again = await shownBy(new ApiClient(second.url, key), id);
    expect(derived(again)).to.deep.equal([null, null]);
    expect((await fetch(again.play_url ?? "")).status).to.equal(200);
    await second.close();
  });
});

describe("A generation while audio analysis is switched off", () => {
  it("is completed with the provider's values and a cover", async () => {
    const test = await startTestApp({ work: true, settings: { audio: { analyser: "none" } } });
    const { shown } = await generateOn(test, trackOf(await mp3File(aChord(1, () => 0.5))));
    expect([shown.duration, shown.preview_audio_url]).to.deep.equal([null, null]);
    expect((await fetch(shown.thumbnail_url ?? "")).status).to.equal(200);
    expect(test.logger.lines.filter(({ level }) => level === "warn" || level === "error")).to.deep.equal([]);
    await test.close();
  });

  it("uses the analyser of an embedding app", async () => {
    const analysis = { durationSeconds: 12.5, waveform: [1, 255], preview: null };
    const audioAnalyser: AudioAnalyser = { analyse: () => Promise.resolve(analysis), close: () => Promise.resolve() };
    const test = await startTestApp({ work: true, audioAnalyser });
    const { shown } = await generateOn(test, trackOf(await mp3File(aChord(1, () => 0.5))));
    expect([shown.duration, shown.preview_audio_url]).to.deep.equal([12.5, null]);
    await test.close();
  });
});
