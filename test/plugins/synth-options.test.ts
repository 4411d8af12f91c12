import { expect } from "chai";
import type { MusicProvider, OptionValues, ProviderTrack } from "../../core/ports/music-provider.js";
import definition from "../../plugins/synth/index.js";
import { compositionOptions } from "../../plugins/synth/job-spec.js";
import { readBrief } from "../../plugins/synth/composer/brief.js";
import { readReference, toReference } from "../../plugins/synth/split/own-track.js";
import { aSource, aSplitRequest } from "../support/provider-kit/requests.js";
import { aHost, aRequest, bytesOf, createSynth, renderOne } from "./synth-support.js";

describe("synth: options", function () {
  this.timeout(60_000);
  let provider: MusicProvider;
  before(() => {
    provider = createSynth(aHost({ threads: 1, keepStems: false }));
  });
  after(() => provider.close?.());

  const make = (options: OptionValues, prompt = "slow waltz"): Promise<ProviderTrack> =>
    renderOne(provider, { prompt, options });
  const bytes = async (options: OptionValues, prompt?: string): Promise<Buffer> =>
    Buffer.from(bytesOf(await make(options, prompt), "master"));

  it("are declared by both models, in the bounds that the composer has", () => {
    for (const { requestOptions = {} } of definition.models) {
      expect(Object.keys(requestOptions)).to.deep.equal(["seed", "bpm", "key"]);
      expect(requestOptions["bpm"]).to.include({ minimum: 40, maximum: 220 });
    }
  });

  it("give equal bytes for an equal request and seed, and other music for another seed and without one", async () => {
    const [none, first, again, other] = [
      await bytes({}),
      await bytes({ seed: 1 }),
      await bytes({ seed: 1 }),
      await bytes({ seed: 2 }),
    ];
    expect(first.equals(again)).to.equal(true);
    expect([first.equals(other), first.equals(none), other.equals(none)]).to.deep.equal([false, false, false]);
    expect((await bytes({ seed: 1 }, "slow waltzes")).equals(first)).to.equal(false);
    for (const seed of [0, 4_294_967_295]) expect((await bytes({ seed })).equals(none)).to.equal(false);
  });

  it("decide on tempo and key, whatever the prompt says, and leave the rest of the track as it was", async () => {
    for (const bpm of [40, 97, 220]) expect((await make({ bpm }, "techno 140 bpm")).bpm).to.equal(bpm);
    const words = readBrief("pop in D minor, 120 bpm", null);
    const chosen = readBrief("pop in D minor, 120 bpm", null, { bpm: 90, key: "F# major" });
    expect(chosen).to.deep.equal({ ...words, bpm: 90, key: { tonic: 6, mode: "major" } });
    const open = readBrief("pop", null);
    expect(readBrief("pop", null, { key: "A minor" })).to.deep.equal({ ...open, key: { tonic: 9, mode: "minor" } });
    expect((await bytes({ key: "C major" })).equals(await bytes({ key: "C minor" }))).to.equal(false);
  });

  for (const [key, tonic, mode] of [
    ["C major", 0, "major"],
    ["Cb major", 11, "major"],
    ["B# minor", 0, "minor"],
    ["F# minor", 6, "minor"],
    ["Eb major", 3, "major"],
    ["G minor", 7, "minor"],
  ] as const) {
    it(`knows the key ${key}`, () => expect(readBrief("pop", null, { key }).key).to.deep.equal({ tonic, mode }));
  }

  it("are kept with the track, so that its own stems come out", async () => {
    const options = { seed: 5, bpm: 100, key: "Eb major" };
    const request = aRequest({ prompt: "house", options });
    const created = await provider.submit(request, { signal: new AbortController().signal });
    const reference = created.state === "completed" ? (created.tracks[0]?.reference ?? null) : null;
    expect(readReference(reference)).to.include(options);
    const source = aSource({ reference, open: () => expect.fail("the stored file is not read") });
    const split = await provider.submit(aSplitRequest("stem_split", source), { signal: new AbortController().signal });
    expect(split.state === "completed" && split.stems?.map(({ label }) => label)).to.deep.equal([
      "drums",
      "bass",
      "other",
    ]);
  });

  it("are no members of a reference where there were none, so that references of before read the same", () => {
    const chunk = { prompt: "a quiet tune", lyrics: null, seconds: 30, sung: false, masterDigest: "ab".repeat(32) };
    expect(toReference(chunk)).to.deep.equal({ version: 1, ...chunk });
    expect(readReference({ version: 1, ...chunk })).to.deep.equal(chunk);
    expect(compositionOptions({ seed: "1", bpm: null, key: 3 })).to.deep.equal({});
  });
});
