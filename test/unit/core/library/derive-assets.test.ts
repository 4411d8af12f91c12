import { expect } from "chai";
import { DeriveAssets, type DeriveAssetsDeps } from "../../../../core/library/derive-assets.js";
import { assetOf } from "../../../../core/library/track.js";
import {
  type AnalysisRequest,
  type AudioAnalysis,
  AudioUnreadableError,
} from "../../../../core/ports/audio-analyser.js";
import { AudioTooLargeError } from "../../../../core/ports/audio-store.js";
import { anAsset, aTrack } from "../../../support/builders.js";
import { RecordingLogger } from "../../../support/doubles/recording-logger.js";

const ANALYSIS: AudioAnalysis = {
  durationSeconds: 61.5,
  waveform: [0, 128, 255],
  preview: { bytes: Buffer.from("excerpt"), contentType: "audio/mpeg", durationSeconds: 30 },
};

/** A mix that its provider said nothing about. */
const bareMix = anAsset({ role: "mix", audioKey: "job_1/2/0-mix.mp3", durationSeconds: null });

function derivation(overrides: Partial<DeriveAssetsDeps> = {}) {
  const stored = new Map<string, string>();
  const requests: AnalysisRequest[] = [];
  const logger = new RecordingLogger();
  const parts: DeriveAssetsDeps = {
    audio: {
      async put(key: string, source: Uint8Array) {
        stored.set(key, Buffer.from(source).toString());
        return { sizeBytes: source.length, etag: "e", modifiedAt: 0 };
      },
      read: (key: string) => [Buffer.from(key)],
    } as unknown as DeriveAssetsDeps["audio"],
    analyser: {
      async analyse(_source, request) {
        requests.push(request);
        return { ...ANALYSIS, preview: request.preview ? ANALYSIS.preview : null };
      },
      close: () => Promise.resolve(),
    },
    covers: { paint: async ({ seed }) => Buffer.from(`picture of ${seed}`) },
    logger,
    maxBytes: 1_000,
    ...overrides,
  };
  return { derive: new DeriveAssets(parts), stored, requests, logger };
}

describe("DeriveAssets", () => {
  it("adds length, waveform, preview and cover, in files next to the mix", async () => {
    const { derive, stored } = derivation();
    const track = aTrack({ assets: [bareMix] });
    const derived = await derive.deriveFor(track);
    expect(derived.waveform).to.deep.equal(Uint8Array.of(0, 128, 255));
    expect(assetOf(derived, "mix")).to.deep.equal({ ...bareMix, durationSeconds: 61.5 });
    const common = { label: "full" };
    expect(assetOf(derived, "preview")).to.deep.equal({
      ...common,
      role: "preview",
      audioKey: "job_1/2/0-preview.mp3",
      contentType: "audio/mpeg",
      sizeBytes: 7,
      durationSeconds: 30,
    });
    expect(assetOf(derived, "cover")).to.include({
      ...common,
      audioKey: "job_1/2/0-cover.png",
      contentType: "image/png",
      durationSeconds: null,
    });
    expect([...stored]).to.deep.equal([
      ["job_1/2/0-preview.mp3", "excerpt"],
      ["job_1/2/0-cover.png", `picture of ${track.id}`],
    ]);
  });

  it("keeps what the provider gave", async () => {
    const { derive, stored, requests } = derivation();
    const given = [{ ...bareMix, durationSeconds: 60 }, anAsset({ role: "preview" }), anAsset({ role: "cover" })];
    const derived = await derive.deriveFor(aTrack({ assets: given }));
    expect(derived.assets).to.deep.equal(given);
    expect(derived.waveform).to.deep.equal(Uint8Array.from(ANALYSIS.waveform));
    expect([stored.size, requests.map(({ preview }) => preview)]).to.deep.equal([0, [false]]);
  });

  it("does not listen when there is nothing to learn", async () => {
    const { derive, requests } = derivation();
    const track = aTrack({
      assets: [{ ...bareMix, durationSeconds: 60 }, anAsset({ role: "preview" }), anAsset({ role: "cover" })],
      waveform: Uint8Array.of(1),
    });
    expect(await derive.deriveFor(track)).to.deep.equal(track);
    expect(requests).to.deep.equal([]);
  });

  it("leaves a track without a mix as it is", async () => {
    const { derive, stored } = derivation();
    const track = aTrack({ assets: [] });
    expect(await derive.deriveFor(track)).to.equal(track);
    expect(stored.size).to.equal(0);
  });

  it("names the files after a mix of any name", async () => {
    const keys: Record<string, string> = {
      "trk_1/mix.flac": "trk_1/cover.png",
      "a/b/remix.mp3": "a/b/recover.png",
      "mix.mp3": "cover.png",
      "a/song.mp3": "a/song.mp3-cover.png",
    };
    for (const [audioKey, expected] of Object.entries(keys)) {
      const derived = await derivation().derive.deriveFor(aTrack({ assets: [{ ...bareMix, audioKey }] }));
      expect(assetOf(derived, "cover")?.audioKey).to.equal(expected);
    }
  });

  it("leaves out an asset that cannot be derived from the audio, and logs it", async () => {
    const analyser = {
      analyse: () => Promise.reject(new AudioUnreadableError("broken")),
      close: () => Promise.resolve(),
    };
    const { derive, logger } = derivation({ analyser });
    const derived = await derive.deriveFor(aTrack({ assets: [bareMix] }));
    expect([derived.waveform, assetOf(derived, "preview"), assetOf(derived, "mix")?.durationSeconds]).to.deep.equal([
      null,
      null,
      null,
    ]);
    expect(assetOf(derived, "cover")).not.to.equal(null);
    expect(logger.lines.map(({ level, message }) => `${level}: ${message}`)).to.deep.equal([
      "warn: A track could not be listened to",
    ]);
  });

  it("leaves an unknown format as it is, without a log line", async () => {
    const { derive, logger } = derivation({
      analyser: { analyse: () => Promise.resolve(null), close: () => Promise.resolve() },
    });
    expect((await derive.deriveFor(aTrack({ assets: [bareMix] }))).waveform).to.equal(null);
    expect(logger.lines).to.deep.equal([]);
  });

  it("does without a file that cannot be painted or stored", async () => {
    const audio = {
      put: () => Promise.reject(new AudioTooLargeError(1)),
      read: () => [],
    } as unknown as DeriveAssetsDeps["audio"];
    const covers = { paint: () => Promise.reject(new Error("no paint")) };
    const { derive, logger } = derivation({ audio, covers });
    const derived = await derive.deriveFor(aTrack({ assets: [bareMix] }));
    expect(derived.assets).to.deep.equal([{ ...bareMix, durationSeconds: 61.5 }]);
    expect(logger.lines).to.have.length(2);
  });

  it("stops when its signal has been aborted", async () => {
    const abort = new AbortController();
    const reason = new Error("the process stops");
    const analyser = {
      analyse: (_: unknown, { signal }: AnalysisRequest) => {
        abort.abort(reason);
        return Promise.reject(signal?.reason as Error);
      },
      close: () => Promise.resolve(),
    };
    const { derive, stored } = derivation({ analyser });
    const failure = await derive
      .deriveFor(aTrack({ assets: [bareMix] }), abort.signal)
      .catch((error: unknown) => error);
    expect([failure, stored.size]).to.deep.equal([reason, 0]);
  });
});
