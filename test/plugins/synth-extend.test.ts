import { expect } from "chai";
import {
  type Completed,
  type MusicProvider,
  type MusicReference,
  ProviderFailure,
  type ProviderReference,
  type ProviderTrack,
} from "../../core/ports/music-provider.js";
import { aSource, aSplitRequest } from "../support/provider-kit/index.js";
import { aHost, aRequest, bytesOf, createSynth, renderOne, type RequestParts, soundOf } from "./synth-support.js";

const never = new AbortController().signal;
const RATE = 44_100;

describe("synth: going on from its own tracks", function () {
  this.timeout(60_000);
  let provider: MusicProvider;
  before(() => {
    provider = createSynth(aHost({ keepStems: false }));
  });
  after(() => provider.close?.());

  /** As a track comes back from storage. */
  const referenceTo = (track: ProviderTrack, fromSeconds: number | null = null): MusicReference => ({
    mode: "extend",
    source: aSource({ reference: JSON.parse(JSON.stringify(track.reference)) as ProviderReference }),
    ...{ fromSeconds, toSeconds: null, strength: null },
  });
  async function extend(
    track: ProviderTrack,
    parts: RequestParts = {},
    fromSeconds: number | null = null,
  ): Promise<ProviderTrack> {
    const request = { ...aRequest({ prompt: "wild drums", ...parts }), reference: referenceTo(track, fromSeconds) };
    const { tracks } = (await provider.submit(request, { signal: never })) as Completed;
    return tracks[0] as ProviderTrack;
  }
  const left = async (track: ProviderTrack): Promise<Float32Array> => (await soundOf(track, "master")).left;
  /** The greatest difference of two sounds in their first seconds. */
  async function differenceOf(one: ProviderTrack, other: ProviderTrack, seconds: number): Promise<number> {
    const [a, b] = [await left(one), await left(other)];
    let greatest = 0;
    for (let index = 0; index < seconds * RATE; index++) {
      greatest = Math.max(greatest, Math.abs((a[index] as number) - (b[index] as number)));
    }
    return greatest;
  }

  it("keeps the track up to its end and adds as much as was asked for, in its tempo", async () => {
    const first = await renderOne(provider, { options: { bpm: 81 } });
    const more = await extend(first, { durationSeconds: 7 });
    expect((await left(more)).length).to.equal(12 * RATE);
    expect(more.assets.find(({ role }) => role === "mix")?.durationSeconds).to.equal(12);
    expect(more.bpm).to.equal(81);
    // The master is rounded twice.
    expect(await differenceOf(first, more, 5)).to.be.below(0.001);
    expect((await extend(first, { options: { bpm: 140 } })).bpm).to.equal(140);
  });

  it("goes on from an earlier point, and from a track that went on itself", async () => {
    const first = await renderOne(provider, {});
    const second = await extend(first, {}, 3);
    expect((await left(second)).length).to.equal(8 * RATE);
    expect(await differenceOf(first, second, 3)).to.be.below(0.001);
    const third = await extend(second, { prompt: "slow piano" });
    expect((await left(third)).length).to.equal(13 * RATE);
    expect(await differenceOf(second, third, 8)).to.be.below(0.001);
    expect(await differenceOf(await extend(second, { prompt: "slow piano" }), third, 13), "the same again").to.equal(0);
  });

  it("refuses what it did not make, and what would get too long", async () => {
    const failure = (reference: MusicReference): Promise<unknown> =>
      provider.submit({ ...aRequest(), reference }, { signal: never }).then(
        () => null,
        (error: unknown) => error,
      );
    const first = await renderOne(provider, {});
    const foreign = { ...referenceTo(first), source: aSource({ reference: null }) };
    for (const reference of [foreign, referenceTo(first, 899)]) {
      const error = await failure(reference);
      expect(ProviderFailure.is(error) && error.kind).to.equal("invalid_input");
    }
  });

  it("splits what was joined as any other audio", async () => {
    const joined = await extend(await renderOne(provider, {}));
    const { source } = referenceTo(joined);
    const bytes = bytesOf(joined, "master");
    const request = aSplitRequest("stem_split", aSource({ reference: source.reference }, bytes));
    const { stems } = (await provider.submit(request, { signal: never })) as Completed;
    expect(stems?.map(({ label }) => label)).to.include("other");
  });
});
