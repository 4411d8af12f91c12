import { expect } from "chai";
import type { TrackAsset } from "../../../../core/library/track.js";
import type { AssetOpener } from "../../../../core/ports/asset-opener.js";
import {
  type Completed,
  type ProviderAsset,
  ProviderFailure,
  type ProviderTrack,
} from "../../../../core/ports/music-provider.js";
import { InvalidResultFailure } from "../../../../core/results/invalid-result.js";
import { StoreAsset } from "../../../../core/results/store-asset.js";
import { StoreTracks } from "../../../../core/results/store-tracks.js";
import { storableResult } from "../../../../core/results/stored-result.js";
import { aJob, aJobRequest, anId } from "../../../support/builders.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";
import { MemoryAudioStore } from "../../../support/doubles/memory-audio-store.js";
import { RecordingTracer } from "../../../support/doubles/recording-tracer.js";
import { SCRIPTED_TRACK, scriptedBytes } from "../../../support/doubles/scripted-provider.js";

const NEVER = new AbortController().signal;
const JOB = aJob({ fence: 3, providerId: "synth", request: aJobRequest({ prompt: "rain on a tin roof" }) });
const [MIX, , STEM, COVER] = SCRIPTED_TRACK.assets as [ProviderAsset, ProviderAsset, ProviderAsset, ProviderAsset];
const at = (url: string): ProviderAsset["source"] => ({ kind: "url", url });
const GONE = { source: at("https://files.example/gone") };

describe("The files of a provider's tracks", () => {
  let clock: ManualClock;
  let audio: MemoryAudioStore;
  let tracer: RecordingTracer;
  let derived: string[];
  beforeEach(() => {
    clock = new ManualClock();
    audio = new MemoryAudioStore(clock);
    tracer = new RecordingTracer();
    derived = [];
  });

  const opener: AssetOpener = {
    open: async ({ kind, ...source }) => {
      if (kind === "url")
        throw new ProviderFailure(
          "url" in source && source.url.includes("gone") ? "gone" : "unavailable",
          "It is away.",
        );
      const bytes = (source as { readonly bytes: Uint8Array }).bytes;
      const contentType = bytes[0] === 0x89 ? "image/png" : bytes[0] === 0x49 ? "audio/mpeg" : "audio/flac";
      return {
        contentType,
        bytes: (async function* () {
          yield bytes;
        })(),
      };
    },
    close: () => Promise.resolve(),
  };
  const storing = (maxBytes = 10_000): StoreTracks =>
    new StoreTracks({
      ...{ audio, clock, ids: { next: anId } },
      storeAsset: new StoreAsset({ audio, opener, maxBytes, tracer }),
      derived: {
        deriveFor: async (track) => {
          derived.push(track.id);
          return track;
        },
      },
    });
  const store = (tracks: readonly ProviderTrack[], isPlain = false) =>
    storing().store(JOB, "Synth", tracks, isPlain, NEVER);
  const track = (...assets: readonly ProviderAsset[]): ProviderTrack => ({ ...SCRIPTED_TRACK, assets });
  const refusal = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => "done",
      (error: unknown) => (ProviderFailure.is(error) ? `${error.kind}: ${error.message}` : String(error)),
    );

  it("become a private track of the job's account, under keys of the job and its fence", async () => {
    const reference = { clip: "c1" };
    const lyrics = { text: "la" };
    const { tracks, missing } = await store([
      { ...track(MIX, { ...STEM, label: "Lead Vocals!" }, COVER), bpm: 96.4, reference, lyrics },
    ]);
    expect(missing).to.deep.equal([]);
    expect(tracks).to.have.length(1);
    expect(tracks[0]).to.deep.include({
      ...{ accountId: JOB.accountId, jobId: JOB.id, position: 0, title: "Rain on a tin roof", artistLabel: "Synth" },
      ...{ bpm: 96, prompt: "rain on a tin roof", visibility: "private", waveform: null, shareToken: null },
      ...{ linkGeneration: 0, createdAt: clock.now(), tags: SCRIPTED_TRACK.tags },
      origin: { providerId: "synth", reference },
      lyrics: { text: "la", words: null },
    });
    const keys = (tracks[0]?.assets ?? []).map((asset: TrackAsset) => asset.audioKey);
    expect(keys).to.deep.equal([
      `${JOB.id}/3/0-mix.mp3`,
      `${JOB.id}/3/0-stem--ead-ocals-.flac`,
      `${JOB.id}/3/0-cover.png`,
    ]);
    expect(audio.keys).to.deep.equal([...keys].sort());
    expect(tracks[0]?.assets[1]).to.deep.include({ role: "stem", label: "Lead Vocals!", sizeBytes: 1_000 });
    expect(derived).to.deep.equal([tracks[0]?.id]);
    expect(await store([{ ...track(MIX), bpm: null }], true)).to.have.nested.property("tracks[0].bpm", null);
    expect(derived).to.have.length(1);
  });

  it("are traced one by one", async () => {
    const parent = tracer.start({ name: "store files", parent: null });
    await tracer.within(parent, () => store([track(MIX)]));
    expect(tracer.ended[0]).to.deep.include({
      ...{ name: "fetch file", kind: "client", hasFailed: false },
      attributes: {
        "fermata.provider": "synth",
        "fermata.asset.role": "mix",
        "fermata.asset.bytes": 1_000,
        "fermata.asset.type": "audio/mpeg",
      },
    });
  });

  it("are left out where they cannot be had, and named, as long as a mix is there", async () => {
    const lost = { ...STEM, ...GONE };
    const { tracks, missing } = await store([track(MIX, lost), track(MIX), track({ ...MIX, ...GONE }), track(STEM)]);
    expect(tracks.map(({ position, assets }) => [position, assets.length])).to.deep.equal([
      [0, 1],
      [1, 1],
    ]);
    expect(missing).to.deep.equal([
      "The stem drums of track 0: It is away.",
      "The mix full of track 2: It is away.",
      "Track 3 came without a file of the role mix.",
    ]);
  });

  it("fail as a whole where no track can be kept, with the first reason, or may be had later", async () => {
    expect(await refusal(store([track({ ...MIX, ...GONE }), track(STEM)]))).to.equal(
      "gone: The mix full of track 0: It is away.",
    );
    expect(await refusal(store([]))).to.equal("failed: The provider reported success without a track.");
    const later = { source: at("https://files.example/later") };
    expect(await refusal(store([track(MIX), track({ ...MIX, ...later })]))).to.equal("unavailable: It is away.");
    expect(await refusal(store([track(MIX, { ...STEM, ...later })]))).to.equal("unavailable: It is away.");
  });

  it("are refused where a sound came for a picture, they are too large, or their source is wrong", async () => {
    const refused = async (asset: ProviderAsset, maxBytes?: number): Promise<string> =>
      refusal(storing(maxBytes).store(JOB, "Synth", [track(asset)], true, NEVER));
    expect(await refused({ ...MIX, source: COVER.source })).to.equal(
      "failed: The mix full of track 0: It is image/png; allowed: audio.",
    );
    expect(await refused(MIX, 999)).to.match(/^failed: /);
    expect(await refused({ ...MIX, source: { kind: "url" } as never })).to.include(
      "The plugin returned a wrong source: source.url: missing",
    );
    const { missing } = await store([track(MIX, { ...COVER, source: MIX.source })]);
    expect(missing).to.deep.equal(["The cover full of track 0: It is audio/mpeg; allowed: an image."]);
  });

  it("of a split are its parts, each with a name of its own", async () => {
    const parts = ["drums", "bass"].map((label) => ({ ...STEM, label }));
    const outputs = await storing().storeStems(JOB, parts, NEVER);
    expect(outputs).to.deep.equal(
      ["drums", "bass"].map((label, index) => ({
        ...{ label, audioKey: `${JOB.id}/3/${index}-stem-${label}.flac`, contentType: "audio/flac" },
        ...{ sizeBytes: 1_000, durationSeconds: STEM.durationSeconds },
      })),
    );
    const lost = storing().storeStems(JOB, [STEM, { ...STEM, label: "bass", ...GONE }], NEVER);
    expect(await refusal(lost)).to.equal("gone: The stem bass: It is away.");
    expect(await refusal(storing().storeStems(JOB, [], NEVER))).to.include("without a stem.");
    expect(await refusal(storing().storeStems(JOB, [STEM, STEM], NEVER))).to.include("named two stems alike.");
  });

  it("are discarded of one fence, or of the whole job", async () => {
    for (const key of [`${JOB.id}/2/0-mix.mp3`, `${JOB.id}/3/0-mix.mp3`, "job_other/1/0-mix.mp3"])
      await audio.put(key, scriptedBytes("audio/mpeg"), 10_000);
    await storing().discard(JOB.id, 3);
    expect(audio.keys).to.deep.equal([`${JOB.id}/2/0-mix.mp3`, "job_other/1/0-mix.mp3"].sort());
    await storing().discard(JOB.id);
    expect(audio.keys).to.deep.equal(["job_other/1/0-mix.mp3"]);
  });
});

describe("A result that outlives its process", () => {
  const link = (given: object = {}): ProviderAsset => ({
    ...MIX,
    source: { kind: "url", url: "https://a", ...given } as never,
  });
  const completed = (assets: readonly ProviderAsset[], stems?: readonly ProviderAsset[]): Completed => ({
    state: "completed",
    tracks: assets.length === 0 ? [] : [{ ...SCRIPTED_TRACK, assets }],
    ...(stems === undefined ? {} : { stems }),
  });
  const isStorable = (...given: Parameters<typeof completed>): boolean => storableResult(completed(...given)) !== null;

  it("is behind links that need no key alone", () => {
    expect(isStorable([link()])).to.equal(true);
    expect(isStorable([link({ headers: {} })])).to.equal(true);
    expect(isStorable([link()], [link()])).to.equal(true);
    expect(isStorable([], [link()])).to.equal(true);
    const archive = (source: object): ProviderAsset => ({
      ...MIX,
      source: { kind: "archive", archive: source, entry: "a.mp3" } as never,
    });
    expect(isStorable([archive({ kind: "url", url: "https://a" })])).to.equal(true);
    for (const other of [MIX, link({ headers: { authorization: "key" } }), archive({ kind: "bytes" })]) {
      expect(isStorable([other])).to.equal(false);
      expect(isStorable([link(), other])).to.equal(false);
      expect(isStorable([link()], [other])).to.equal(false);
    }
    expect(isStorable([])).to.equal(false);
    const result = completed([link()]);
    expect(storableResult(result)).to.equal(result);
  });
});

describe("A result that the host cannot use", () => {
  it("may be bought where it came from a submission, and is asked for again otherwise", () => {
    const submitted = new InvalidResultFailure("suno", "submit", ["a", "b", "c", "d"]);
    expect(submitted).to.include({ kind: "outcome_unknown", billable: "unknown" });
    expect(submitted.message).to.equal("The plugin suno returned from submit what the host cannot use: a; b; c.");
    expect(new InvalidResultFailure("suno", "poll", ["a"])).to.include({ kind: "unavailable", billable: "unknown" });
  });
});
