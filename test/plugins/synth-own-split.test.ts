import { expect } from "chai";
import type {
  Completed,
  MusicProvider,
  ProviderReference,
  ProviderTrack,
  SourceAudio,
  SplitRequest,
} from "../../core/ports/music-provider.js";
import { compose } from "../../plugins/synth/composer/compose.js";
import { mixDown } from "../../plugins/synth/sound/mixdown.js";
import { digestOf, readReference, toReference } from "../../plugins/synth/split/own-track.js";
import { readWav, rmsOf } from "../support/audio-analysis.js";
import { wavFile } from "../support/audio-files.js";
import { aSource, aSplitRequest } from "../support/provider-kit/index.js";
import type { Stems } from "./synth-split-support.js";
import { aBand, soundsOf, sumErrorOf } from "./synth-split-support.js";
import { aHost, createSynth, renderOne, soundOf } from "./synth-support.js";
import type { RequestParts } from "./synth-support.js";

const SUM_ERROR_MAX = -60;
const never = new AbortController().signal;

const unread = (): never => {
  throw new Error("a piece of its own is not read");
};

describe("synth: splits of its own pieces", function () {
  this.timeout(60_000);
  let provider: MusicProvider;

  before(() => {
    provider = createSynth(aHost({ keepStems: false }));
  });
  after(() => provider.close?.());

  const make = (parts: RequestParts): Promise<ProviderTrack> => renderOne(provider, parts);
  const song = (): Promise<ProviderTrack> =>
    make({ modelId: "synth/song", prompt: "rock song", lyrics: "Stay with me until the night" });

  async function split(
    operation: SplitRequest["operation"],
    source: Partial<SourceAudio>,
    file?: Uint8Array,
  ): Promise<Stems> {
    const { stems } = (await provider.submit(aSplitRequest(operation, aSource(source, file)), {
      signal: never,
    })) as Completed;
    return soundsOf(stems);
  }

  /** As it comes back from storage. */
  const referenceOf = ({ reference }: ProviderTrack): ProviderReference =>
    JSON.parse(JSON.stringify(reference)) as ProviderReference;

  it("returns the stems that a song was mixed from, which add up to it within -60 dB", async () => {
    const track = await song();
    const stems = await split("stem_split", { reference: referenceOf(track), open: unread });
    expect([...stems.keys()]).to.deep.equal(["drums", "bass", "other", "vocals"]);
    expect(sumErrorOf(stems, await soundOf(track, "master"))).to.be.below(SUM_ERROR_MAX);
  });

  it("returns the very stems that are stored with a song", async () => {
    const other = createSynth(aHost({ keepStems: true }));
    const track = await renderOne(other, { modelId: "synth/song", prompt: "folk song", lyrics: "Rain rain go away" });
    await other.close?.();
    const stems = await split("stem_split", { reference: referenceOf(track), open: unread });
    for (const [label, { left }] of stems)
      expect(left, label).to.deep.equal((await soundOf(track, "stem", label)).left);
  });

  it("takes the singer out of a song", async () => {
    const track = await song();
    const stems = await split("vocal_removal", { reference: referenceOf(track), open: unread });
    expect([...stems.keys()]).to.deep.equal(["vocals", "instrumental"]);
    expect(sumErrorOf(stems, await soundOf(track, "master"))).to.be.below(SUM_ERROR_MAX);
    for (const { left } of stems.values()) expect(rmsOf(left)).to.be.above(0.01);
  });

  it("finds no singer in an instrumental", async () => {
    const track = await make({ prompt: "house" });
    const reference = referenceOf(track);
    expect([...(await split("stem_split", { reference, open: unread })).keys()]).to.deep.equal([
      "drums",
      "bass",
      "other",
    ]);
    const removed = await split("vocal_removal", { reference, open: unread });
    expect(rmsOf(removed.get("vocals")?.left ?? new Float32Array(1).fill(1))).to.equal(0);
    expect(sumErrorOf(removed, await soundOf(track, "master"))).to.be.below(SUM_ERROR_MAX);
  });

  it("leaves out instruments that a piece does without", async () => {
    const stems = await split("stem_split", {
      reference: referenceOf(await make({ prompt: "rock without drums" })),
      open: unread,
    });
    expect([...stems.keys()]).to.deep.equal(["bass", "other"]);
  });

  it("returns the layers of a track whose music would all be one stem, and its rain", async () => {
    const track = await make({ prompt: "slow sad piano, rain" });
    const stems = await split("stem_split", { reference: referenceOf(track), open: unread });
    expect([...stems.keys()]).to.deep.equal(["chords", "melody", "rain"]);
    expect(sumErrorOf(stems, await soundOf(track, "master"))).to.be.below(SUM_ERROR_MAX);
    for (const [label, { left }] of stems) expect(rmsOf(left), label).to.be.above(0.005);
  });

  it("returns the layers of a band without drums and bass", async () => {
    const track = await make({ prompt: "dreamy lofi without drums, without bass" });
    const stems = await split("stem_split", { reference: referenceOf(track), open: unread });
    expect([...stems.keys()]).to.deep.equal(["chords", "pad", "melody", "crackle"]);
    expect(sumErrorOf(stems, await soundOf(track, "master"))).to.be.below(SUM_ERROR_MAX);
  });

  it("keeps rain out of the stems of a band, and in what remains without the singer", async () => {
    const track = await make({ modelId: "synth/song", prompt: "rock song in the rain", lyrics: "Stay with me" });
    const reference = referenceOf(track);
    const stems = await split("stem_split", { reference, open: unread });
    expect([...stems.keys()]).to.deep.equal(["drums", "bass", "other", "vocals", "rain"]);
    const removed = await split("vocal_removal", { reference, open: unread });
    for (const sounds of [stems, removed])
      expect(sumErrorOf(sounds, await soundOf(track, "master"))).to.be.below(SUM_ERROR_MAX);
  });

  it("returns the real stems of a track from before there was rain", async () => {
    const composition = { prompt: "slow sad piano, rain", lyrics: null, seconds: 5, sung: false };
    const { master } = mixDown(compose(composition), false);
    const reference = toReference({ ...composition, masterDigest: digestOf(master.bytes) }) ?? {};
    expect(reference).to.not.have.property("edition");
    const stems = await split("stem_split", { reference, open: unread });
    expect([...stems.keys()]).to.deep.equal(["chords", "melody"]);
    expect(sumErrorOf(stems, readWav(master.bytes))).to.be.below(SUM_ERROR_MAX);
  });

  it("splits its own track like any other audio where it renders differently now", async () => {
    const reference = { ...referenceOf(await make({ prompt: "house" })), masterDigest: "0".repeat(64) };
    const file = wavFile(aBand(0.5).mix);
    expect(sumErrorOf(await split("stem_split", { reference }, file), readWav(file))).to.be.below(SUM_ERROR_MAX);
  });

  it("splits its own track like any other audio where its reference is of another version", async () => {
    const reference = { ...referenceOf(await make({ prompt: "house" })), version: 99 };
    const file = wavFile(aBand(0.5).mix);
    expect(sumErrorOf(await split("stem_split", { reference }, file), readWav(file))).to.be.below(SUM_ERROR_MAX);
  });
});

describe("synth: what is kept of a piece", () => {
  const chunk = { prompt: "a quiet tune", lyrics: "la la", seconds: 30, sung: true, masterDigest: "ab".repeat(32) };
  const kept = (parts: Partial<typeof chunk> = {}): ProviderReference => toReference({ ...chunk, ...parts }) ?? {};

  it("is all that it takes to make it again", () => {
    for (const changed of [{}, { lyrics: null }, { edition: 2 }]) {
      const track = { ...chunk, ...changed };
      expect(readReference(toReference(track) ?? null)).to.deep.equal(track);
    }
  });

  it("is nothing where its words are longer than a track may keep", () => {
    expect(toReference({ ...chunk, prompt: "a".repeat(3_000), lyrics: "b".repeat(5_000) })).to.not.equal(undefined);
    expect(toReference({ ...chunk, lyrics: "夜".repeat(5_000) })).to.equal(undefined);
  });

  it("is not taken for a piece where something is missing or of another kind", () => {
    const wrongs: ProviderReference[] = [
      { prompt: null },
      { lyrics: 3 },
      { seconds: "30" },
      { sung: null },
      { masterDigest: null },
      { version: 2 },
    ];
    for (const wrong of wrongs) {
      expect(readReference({ ...kept(), ...wrong }), JSON.stringify(wrong)).to.equal(null);
    }
    expect(readReference({})).to.equal(null);
    expect(readReference(null)).to.equal(null);
  });
});
