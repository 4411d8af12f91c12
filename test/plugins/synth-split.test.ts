import { expect } from "chai";
import type {
  Completed,
  MusicProvider,
  ProviderFailureKind,
  SourceAudio,
  SplitRequest,
} from "../../core/ports/music-provider.js";
import definition from "../../plugins/synth/index.js";
import { splitAudio } from "../../plugins/synth/split/split-audio.js";
import { completedIssues } from "../contract/music-provider/assets.js";
import { decodeMp3, readWav, rmsOf } from "../support/audio-analysis.js";
import type { TestSound, WavOptions } from "../support/audio-files.js";
import { mp3File, vorbisFile, wavFile } from "../support/audio-files.js";
import { flacFile } from "../support/flac-file.js";
import { aSource, aSplitRequest } from "../support/provider-kit/index.js";
import type { Stems, TestBand } from "./synth-split-support.js";
import { aBand, amountOf, preference, soundsOf, stemsOf, stemsOfSound, sumErrorOf } from "./synth-split-support.js";
import { aHost, createSynth, failureOf } from "./synth-support.js";

const never = new AbortController().signal;
/** What 16 bits can keep of the loudness of these sounds. */
const SUM_ERROR_MAX = -60;
const LABELS = ["drums", "bass", "vocals", "other"];

const silent = (seconds: number, sampleRate = 44_100, channelCount = 2): TestSound => ({
  sampleRate,
  channels: Array.from({ length: channelCount }, () => new Float32Array(seconds * sampleRate)),
});

const stereoOf = ({ channels }: TestSound) => {
  const [left = new Float32Array(0), right = left] = channels;
  return { left, right };
};

/** Nothing to hear, in 8 bits. */
function longFile(seconds: number, sampleRate: number): Uint8Array {
  const header = wavFile(silent(0, sampleRate, 1), { kind: "pcm8", dataBytes: 0xffffffff });
  return Buffer.concat([header, Buffer.alloc(seconds * sampleRate, 128)]);
}

function monoOf(sound: TestSound): TestSound {
  const { left, right } = stereoOf(sound);
  return { ...sound, channels: [left.map((value, index) => (value + (right[index] ?? 0)) / 2)] };
}

describe("synth: how well other audio is split", function () {
  this.timeout(60_000);
  let band: TestBand;
  let stems: Stems;

  before(async () => {
    band = aBand();
    stems = await stemsOfSound(band.mix);
  });

  it("adds its stems up to the source, within -60 dB", () => {
    expect([...stems.keys()]).to.deep.equal(LABELS);
    expect(sumErrorOf(stems, stereoOf(band.mix))).to.be.below(SUM_ERROR_MAX);
  });

  it("finds a voice in the middle, and leaves wide chords, strokes and bass out of it", () => {
    expect(amountOf(stems.get("vocals")?.left ?? new Float32Array(0), band.voice[0])).to.be.above(0.7);
    expect(preference(stems.get("vocals"), band.voice, band.pad)).to.be.above(15);
    expect(preference(stems.get("vocals"), band.voice, band.clicks)).to.be.above(20);
    expect(preference(stems.get("vocals"), band.voice, band.bass)).to.be.above(30);
  });

  it("finds strokes among the drums", () => {
    expect(amountOf(stems.get("drums")?.left ?? new Float32Array(0), band.clicks[0])).to.be.above(0.8);
    for (const other of [band.voice, band.pad, band.bass])
      expect(preference(stems.get("drums"), band.clicks, other)).to.be.above(15);
  });

  it("finds the bass below everything else", () => {
    expect(amountOf(stems.get("bass")?.left ?? new Float32Array(0), band.bass[0])).to.be.above(0.9);
    for (const other of [band.voice, band.pad, band.clicks])
      expect(preference(stems.get("bass"), band.bass, other)).to.be.above(20);
  });

  it("leaves what is wide to the rest", () => {
    expect(amountOf(stems.get("other")?.left ?? new Float32Array(0), band.pad[0])).to.be.above(0.7);
    expect(preference(stems.get("other"), band.pad, band.voice)).to.be.above(12);
  });

  it("removes the voice and leaves the band", async () => {
    const removed = await stemsOfSound(band.mix, "vocal_removal");
    expect([...removed.keys()]).to.deep.equal(["vocals", "instrumental"]);
    expect(sumErrorOf(removed, stereoOf(band.mix))).to.be.below(SUM_ERROR_MAX);
    for (const kept of [band.pad, band.clicks, band.bass]) {
      expect(amountOf(removed.get("instrumental")?.left ?? new Float32Array(0), kept[0])).to.be.above(0.85);
      expect(preference(removed.get("instrumental"), kept, band.voice)).to.be.above(12);
    }
  });

  it("separates a voice from held chords without two channels, less well", async () => {
    const mono = monoOf(band.mix);
    const found = await stemsOfSound(mono);
    const pad = monoOf({ channels: band.pad, sampleRate: band.sampleRate }).channels[0] as Float32Array;
    expect(sumErrorOf(found, stereoOf(mono))).to.be.below(SUM_ERROR_MAX);
    expect(preference(found.get("vocals"), band.voice, [pad, pad])).to.be.above(8);
    expect(preference(found.get("other"), [pad, pad], band.voice)).to.be.above(8);
  });
});

describe("synth: the files that it splits", function () {
  this.timeout(60_000);

  for (const [name, sound] of [
    ["a second", aBand(1).mix],
    ["less than it looks at in one piece", aBand(0.05).mix],
    ["8,000 samples per second", aBand(2, 8_000).mix],
    ["22,050 samples per second", aBand(2, 22_050).mix],
    ["37,800 samples per second", aBand(2, 37_800).mix],
    ["96,000 samples per second", aBand(2, 96_000).mix],
    ["one channel", monoOf(aBand(2).mix)],
  ] as const) {
    it(`adds the stems of ${name} up to the source, sample for sample`, async () => {
      const stems = await stemsOfSound(sound);
      const lengths = new Set([...stems.values()].map(({ left, sampleRate }) => `${left.length} at ${sampleRate}`));
      expect([...lengths]).to.deep.equal([`${stereoOf(sound).left.length} at ${sound.sampleRate}`]);
      expect(sumErrorOf(stems, stereoOf(sound))).to.be.below(SUM_ERROR_MAX);
    });
  }

  for (const kind of [
    "pcm8",
    "pcm24",
    "pcm32",
    "float32",
    "float64",
  ] as const satisfies readonly WavOptions["kind"][]) {
    it(`reads WAV files of ${kind}`, async () => {
      const sound = aBand(1).mix;
      const stems = await stemsOf(wavFile(sound, { kind, extensible: true }));
      // 8 bits are coarse themselves.
      expect(sumErrorOf(stems, stereoOf(sound))).to.be.below(kind === "pcm8" ? -20 : SUM_ERROR_MAX);
    });
  }

  it("reads MP3 files", async () => {
    const file = await mp3File(aBand(2).mix);
    expect(sumErrorOf(await stemsOf(file), await decodeMp3(file))).to.be.below(SUM_ERROR_MAX);
  });

  it("reads FLAC files", async () => {
    const sound = aBand(2).mix;
    expect(sumErrorOf(await stemsOf(flacFile(sound)), stereoOf(sound))).to.be.below(SUM_ERROR_MAX);
  });

  it("reads Ogg Vorbis files", async () => {
    const sound = aBand(2).mix;
    const stems = await stemsOf(await vorbisFile(sound));
    expect(stems.get("other")?.left.length).to.equal(2 * 44_100);
    // The format itself loses about so much.
    expect(sumErrorOf(stems, stereoOf(sound))).to.be.below(-10);
  });

  it("takes a file without sound for what it is", async () => {
    expect([...(await stemsOfSound(silent(1))).keys()]).to.deep.equal(["other"]);
    expect([...(await stemsOfSound(silent(1), "vocal_removal")).keys()]).to.deep.equal(["vocals", "instrumental"]);
  });

  it("leaves out stems without a sound", async () => {
    const left = Float32Array.from(
      { length: 44_100 },
      (_, index) => 0.3 * Math.sin((2 * Math.PI * 3_000 * index) / 44_100),
    );
    const labels = [
      ...(await stemsOfSound({ channels: [left, left.map((value) => -value)], sampleRate: 44_100 })).keys(),
    ];
    expect(labels).to.include("other").and.not.include("vocals");
  });

  it("survives numbers that are none, and a level far beyond full scale", async () => {
    const wild = Float32Array.from(
      { length: 44_100 },
      (_, index) => [0.1, NaN, Infinity, -Infinity, -0.1][index % 5] ?? 0,
    );
    const stems = await stemsOf(wavFile({ channels: [wild, wild], sampleRate: 44_100 }, { kind: "float32" }));
    expect(rmsOf(stems.get("other")?.left ?? new Float32Array(0))).to.be.within(0.01, 1);
  });
});

/** What is said of a broken file, by what its decoder makes of it. */
const SOUNDLESS = /no sound|cannot be decoded/;
const OGG_BEGINNING = Buffer.concat([Buffer.from("OggS"), Buffer.alloc(24), Buffer.from("\x01vorbis")]);

describe("synth: files that it does not split", function () {
  this.timeout(60_000);
  const wav = (bytes: Uint8Array, change: (view: DataView) => void): Uint8Array => {
    const copy = new Uint8Array(bytes);
    change(new DataView(copy.buffer));
    return copy;
  };
  const good = wavFile(aBand(0.1).mix);

  const cases: readonly (readonly [name: string, file: () => Uint8Array, kind: ProviderFailureKind, says: RegExp])[] = [
    ["nothing", () => new Uint8Array(0), "invalid_input", /format is not supported/],
    ["text", () => new TextEncoder().encode("<html>not here</html>"), "invalid_input", /format is not supported/],
    ["a WAV file that ends in its header", () => good.slice(0, 30), "failed", /header does not end/],
    ["a WAV file without samples", () => good.slice(0, 44), "failed", /no sound/],
    ["a WAV file without channels", () => wav(good, (view) => view.setUint16(22, 0, true)), "failed", /no channels/],
    [
      "a WAV file of an unknown kind",
      () => wav(good, (view) => view.setUint16(20, 85, true)),
      "failed",
      /kind that is not known/,
    ],
    [
      "an odd sample rate",
      () => wav(good, (view) => view.setUint32(24, 12, true)),
      "failed",
      /12 samples per second; allowed: 4000/,
    ],
    ["a FLAC file of noughts", () => Buffer.concat([Buffer.from("fLaC"), Buffer.alloc(5_000)]), "failed", SOUNDLESS],
    ["an Ogg file that is cut short", () => Buffer.concat([OGG_BEGINNING, Buffer.alloc(500)]), "failed", SOUNDLESS],
    ["more than 15 minutes", () => longFile(901, 4_000), "failed", /too long; allowed: 900 seconds/],
    ["fewer seconds of too many samples", () => longFile(230, 192_000), "failed", /too long/],
  ];
  for (const [name, file, kind, says] of cases) {
    it(`refuses ${name}`, async () => {
      const failure = await failureOf(splitAudio({ operation: "stem_split", bytes: new Uint8Array(file()) }));
      expect(failure.kind).to.equal(kind);
      expect(failure.message).to.match(says);
    });
  }
});

describe("synth: splits as a provider", function () {
  this.timeout(60_000);
  let provider: MusicProvider;
  const submit = (source: SourceAudio, signal = never, operation: SplitRequest["operation"] = "stem_split") =>
    provider.submit(aSplitRequest(operation, source), { signal }) as Promise<Completed>;

  beforeEach(() => {
    provider = createSynth(aHost());
  });
  afterEach(() => provider.close?.());

  it("takes any track of up to 15 minutes and 100 MB in the formats that it reads, at no cost", () => {
    const contentTypes = ["audio/mpeg", "audio/wav", "audio/flac", "audio/ogg"];
    const split = { sources: "any", contentTypes, maxBytes: 100_000_000, maxSeconds: 900 };
    expect(definition.capabilities).to.deep.include({ stemSplit: split, vocalRemoval: split });
  });

  it("returns stems of the source, the same for the same source", async () => {
    const file = wavFile(aBand(1).mix);
    const [first, again] = [await submit(aSource({}, file)), await submit(aSource({}, file))];
    expect(completedIssues(first, "stem_split")).to.deep.equal([]);
    const described = first.stems?.map(({ role, label, contentType, durationSeconds }) => ({
      role,
      label,
      contentType,
      durationSeconds,
    }));
    expect(described).to.deep.equal(
      LABELS.map((label) => ({ role: "stem", label, contentType: "audio/wav", durationSeconds: 1 })),
    );
    expect(sumErrorOf(soundsOf(first.stems), readWav(file))).to.be.below(SUM_ERROR_MAX);
    expect(again.stems).to.deep.equal(first.stems);
  });

  it("puts a source together from its pieces", async () => {
    const file = wavFile(aBand(0.3).mix);
    const open = async function* () {
      for (let start = 0; start < file.length; start += 777) yield file.subarray(start, start + 777);
    };
    const completed = await submit(aSource({ open }), never, "vocal_removal");
    expect(completedIssues(completed, "vocal_removal")).to.deep.equal([]);
    expect(sumErrorOf(soundsOf(completed.stems), readWav(file))).to.be.below(SUM_ERROR_MAX);
  });

  it("says what is wrong with a file, and goes on with the next", async () => {
    expect((await failureOf(submit(aSource({}, new Uint8Array(99))))).kind).to.equal("invalid_input");
    expect((await failureOf(submit(aSource({}, longFile(901, 4_000))))).kind).to.equal("failed");
    expect((await submit(aSource({}, wavFile(aBand(0.2).mix)))).stems).to.have.lengthOf(4);
  });

  it("stops reading a file that is larger than it says", async () => {
    let opened = 0;
    const open = async function* () {
      for (; opened < 50; opened += 1) yield new Uint8Array(30_000_000);
    };
    const failure = await failureOf(submit(aSource({ open })));
    expect([failure.kind, opened]).to.deep.equal(["failed", 3]);
    expect(failure.message).to.include("100000000 bytes");
  });

  it("is unavailable where the source is interrupted", async () => {
    const cause = new Error("the store is away");
    const open = async function* () {
      yield new Uint8Array(10);
      throw cause;
    };
    const failure = await failureOf(submit(aSource({ open })));
    expect([failure.kind, failure.cause]).to.deep.equal(["unavailable", cause]);
  });

  it("stops at once when it is aborted while it reads, and closes the source", async () => {
    const abort = new AbortController();
    let isClosed = false;
    const open = () => {
      const next = () => {
        abort.abort();
        return new Promise<never>(() => undefined);
      };
      const close = () => {
        isClosed = true;
        return Promise.resolve({ done: true as const, value: undefined });
      };
      return { [Symbol.asyncIterator]: () => ({ next, return: close }) };
    };
    expect((await failureOf(submit(aSource({ open }), abort.signal))).kind).to.equal("unavailable");
    expect(isClosed).to.equal(true);
  });

  it("stops at once when it is aborted while it works, and goes on with the next", async () => {
    const abort = new AbortController();
    const long = failureOf(submit(aSource({}, longFile(800, 8_000)), abort.signal));
    const next = submit(aSource({}, wavFile(aBand(0.2).mix)));
    setImmediate(() => abort.abort());
    expect((await long).kind).to.equal("unavailable");
    expect((await next).stems).to.have.lengthOf(4);
  });

  it("reads nothing once it is aborted", async () => {
    const open = (): never => {
      throw new Error("opened");
    };
    expect((await failureOf(submit(aSource({ open }), AbortSignal.abort()))).kind).to.equal("unavailable");
  });
});
