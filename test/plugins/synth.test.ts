import { expect } from "chai";
import type { Completed, MusicProvider, ProviderTrack } from "../../core/ports/music-provider.js";
import { PROVIDER_PORT_VERSION } from "../../core/ports/music-provider.js";
import definition from "../../plugins/synth/index.js";
import { countMp3Frames, decodeMp3, peakOf, rmsOf } from "../support/audio-analysis.js";
import { aHost, aRequest, bytesOf, createSynth, failureOf, renderOne, soundOf } from "./synth-support.js";

/** By which a file seems longer to a player that does not honour its Info frame. */
const SURPLUS_MAX = 0.08;

describe("synth: definition", () => {
  it("offers an instrumental and a song model at their prices", () => {
    expect(definition.portVersion).to.equal(PROVIDER_PORT_VERSION);
    expect(
      definition.models.map(({ id, creditCost, supportsLyrics, supportsInstrumental }) => ({
        id,
        creditCost,
        supportsLyrics,
        supportsInstrumental,
      })),
    ).to.deep.equal([
      { id: "synth/instrumental", creditCost: 10, supportsLyrics: false, supportsInstrumental: true },
      { id: "synth/song", creditCost: 15, supportsLyrics: true, supportsInstrumental: false },
    ]);
    for (const { duration } of definition.models)
      expect(duration).to.deep.equal({ minSeconds: 5, maxSeconds: 240, defaultSeconds: 30 });
  });

  it("runs as many submissions at once as it has threads", () => {
    const { concurrency } = definition;
    expect(typeof concurrency === "function" && concurrency({ threads: 3 })).to.equal(3);
    expect(definition.settings["threads"]).to.include({ type: "integer", minimum: 1, maximum: 64 });
  });
});

describe("synth: files of a track", function () {
  this.timeout(60_000);
  let provider: MusicProvider;
  let song: ProviderTrack;
  let seconds: number;

  before(async () => {
    provider = createSynth(aHost({ threads: 1 }));
    seconds = 12;
    song = await renderOne(provider, {
      modelId: "synth/song",
      prompt: "Bright folk song",
      lyrics: "Sunlight on the water\nCarry me away",
      durationSeconds: seconds,
    });
  });
  after(() => provider.close?.());

  it("returns the mix, the master and the stems of a song; the host derives preview and cover", () => {
    expect(song.assets.map(({ role, label, contentType }) => `${role} ${label} ${contentType}`)).to.deep.equal([
      "mix full audio/mpeg",
      "master full audio/flac",
      "stem drums audio/flac",
      "stem bass audio/flac",
      "stem other audio/flac",
      "stem vocals audio/flac",
    ]);
  });

  it("names, measures and describes the track", () => {
    expect(song.title).to.equal("Bright Folk Song");
    expect(song.bpm).to.be.within(60, 160);
    expect(song.tags.genre).to.deep.equal(["folk"]);
    expect(song.tags.mood).to.include("happy");
    expect(song.tags.other).to.include("vocal");
  });

  it("plays mix and master as one sound", async () => {
    const master = await soundOf(song, "master");
    const mix = await decodeMp3(bytesOf(song, "mix"));
    const error = mix.left.map((sample, index) => sample - (master.left[index] ?? 0));
    expect(rmsOf(error)).to.be.below(0.15 * rmsOf(master.left));
  });

  it("adds its stems up to the master, within -60 dB", async () => {
    const master = await soundOf(song, "master");
    const labels = ["drums", "bass", "other", "vocals"];
    const stems = await Promise.all(labels.map((label) => soundOf(song, "stem", label)));
    const rest = master.left.map(
      (sample, index) => sample - stems.reduce((sum, { left }) => sum + (left[index] ?? 0), 0),
    );
    expect(peakOf(rest)).to.be.below(0.001);
  });

  it("keeps the master by default, and no stems", async () => {
    const { keepMaster, keepStems } = definition.settings;
    expect([keepMaster?.default, keepStems?.default]).to.deep.equal([true, false]);
    for (const [settings, roles] of [
      [{ keepMaster: true, keepStems: false }, ["mix", "master"]],
      [{ keepMaster: false, keepStems: false }, ["mix"]],
    ] as const) {
      const bare = createSynth(aHost(settings));
      const track = await renderOne(bare, {});
      await bare.close?.();
      expect(track.assets.map(({ role }) => role)).to.deep.equal(roles);
    }
  });

  it("stores no silence: a solo piano has no stem of drums or bass", async () => {
    const { assets } = await renderOne(provider, { prompt: "slow sad piano" });
    expect(assets.map(({ role, label }) => `${role} ${label}`)).to.deep.equal([
      "mix full",
      "master full",
      "stem other",
    ]);
  });

  it("gives equal bytes for an equal request, whatever the job", async () => {
    const first = await renderOne(provider, { prompt: "slow waltz", jobId: "job_1" });
    const again = await renderOne(provider, { prompt: "slow waltz", jobId: "job_2", attempt: 2 });
    for (const role of ["mix", "master"])
      expect(Buffer.compare(bytesOf(first, role), bytesOf(again, role)), role).to.equal(0);
  });

  it("gives different music for another prompt, other lyrics, another length or the other model", async () => {
    const base = bytesOf(await renderOne(provider, { prompt: "slow waltz" }), "master");
    const others = [
      { prompt: "slow waltzes" },
      { prompt: "slow waltz", durationSeconds: 6 },
      { prompt: "slow waltz", modelId: "synth/song" },
      { prompt: "slow waltz", modelId: "synth/song", lyrics: "other words" },
    ];
    const seen = [Buffer.from(base)];
    for (const other of others) {
      const bytes = Buffer.from(bytesOf(await renderOne(provider, other), "master"));
      expect(seen.some((earlier) => earlier.equals(bytes))).to.equal(false);
      seen.push(bytes);
    }
  });

  for (const length of [5, 7, 11, 30, 240]) {
    it(`is ${length} seconds long where that is asked for`, async function () {
      this.timeout(180_000);
      const track = await renderOne(provider, { prompt: "slow solo piano", durationSeconds: length });
      const mix = bytesOf(track, "mix");
      expect((await soundOf(track, "master")).left).to.have.lengthOf(length * 44_100);
      expect((await decodeMp3(mix)).left.length).to.equal(length * 44_100);
      const ignoringItsInfo = (await decodeMp3(mix, { gapless: false })).left.length / 44_100;
      const playingItsInfo = (countMp3Frames(mix) * 1_152) / 44_100;
      for (const seconds of [ignoringItsInfo, playingItsInfo])
        expect(seconds).to.be.within(length, length + SURPLUS_MAX);
    });
  }

  it("renders the default length where none is asked for", async () => {
    const track = await renderOne(provider, { durationSeconds: null });
    expect(track.assets[0]?.durationSeconds).to.equal(30);
  });

  it("renders the default length that the operator chose for the model", async () => {
    const { model, ...request } = aRequest({ durationSeconds: null });
    const duration = { minSeconds: 5, maxSeconds: 240, defaultSeconds: 6 };
    const { signal } = new AbortController();
    const { tracks } = (await provider.submit({ ...request, model: { ...model, duration } }, { signal })) as Completed;
    expect(tracks[0]?.assets[0]?.durationSeconds).to.equal(6);
  });
});

describe("synth: threads", function () {
  this.timeout(60_000);
  it("renders more submissions than it has threads, each as if alone", async () => {
    const provider = createSynth(aHost({ threads: 2 }));
    const prompts = ["one", "two", "three", "four", "five"];
    const together = await Promise.all(prompts.map((prompt) => renderOne(provider, { prompt })));
    const alone = await renderOne(provider, { prompt: "four" });
    await provider.close?.();
    expect(together.map(({ title }) => title)).to.deep.equal(["One", "Two", "Three", "Four", "Five"]);
    expect(Buffer.compare(bytesOf(together[3] as ProviderTrack, "mix"), bytesOf(alone, "mix"))).to.equal(0);
  });

  it("gives up an aborted submission and goes on with the next", async () => {
    const provider = createSynth(aHost({ threads: 1 }));
    const abort = new AbortController();
    const long = failureOf(provider.submit(aRequest({ durationSeconds: 240 }), { signal: abort.signal }));
    const next = renderOne(provider, { prompt: "the next one" });
    abort.abort();
    expect((await long).kind).to.equal("unavailable");
    expect((await next).title).to.equal("Next One");
    await provider.close?.();
  });

  it("gives up a submission that is aborted while it waits", async () => {
    const provider = createSynth(aHost({ threads: 1 }));
    const abort = new AbortController();
    const first = renderOne(provider, {});
    const waiting = failureOf(renderOne(provider, {}, abort.signal));
    abort.abort();
    expect((await waiting).kind).to.equal("unavailable");
    expect((await first).title).to.equal("Quiet Tune");
    await provider.close?.();
  });

  it("refuses what is aborted before it starts", async () => {
    const provider = createSynth(aHost());
    expect((await failureOf(renderOne(provider, {}, AbortSignal.abort()))).kind).to.equal("unavailable");
    await provider.close?.();
  });

  it("rejects running and later work once closed", async () => {
    const provider = createSynth(aHost());
    const running = failureOf(renderOne(provider, { durationSeconds: 240 }));
    await provider.close?.();
    expect((await running).kind).to.equal("unavailable");
    expect((await failureOf(renderOne(provider, {}))).kind).to.equal("unavailable");
  });
});

describe("synth: test hooks", function () {
  this.timeout(60_000);
  for (const kind of ["unavailable", "timeout", "content_rejected", "failed"]) {
    it(`fails with ${kind} where a marker asks for it`, async () => {
      const provider = createSynth(aHost({ testHooks: true }));
      expect((await failureOf(renderOne(provider, { prompt: `song [[fail:${kind}]]` }))).kind).to.equal(kind);
    });
  }

  it("fails as many attempts as a marker asks for, then makes the same music as without it", async () => {
    const provider = createSynth(aHost({ testHooks: true }));
    const prompt = "rain song [[fail-times:2:timeout]]";
    for (const attempt of [1, 2])
      expect((await failureOf(renderOne(provider, { prompt, attempt }))).kind).to.equal("timeout");
    const track = await renderOne(provider, { prompt, attempt: 3 });
    const plain = await renderOne(provider, { prompt: "rain song" });
    await provider.close?.();
    expect(track.title).to.equal("Rain Song");
    expect(Buffer.compare(bytesOf(track, "master"), bytesOf(plain, "master"))).to.equal(0);
  });

  it("waits on the host's clock before it fails or renders", async () => {
    const host = aHost({ testHooks: true });
    const provider = createSynth(host);
    expect((await failureOf(renderOne(provider, { prompt: "[[delay:2.5]] x [[fail:failed]]" }))).kind).to.equal(
      "failed",
    );
    expect(host.sleeps).to.deep.equal([2_500]);
  });

  it("is unavailable where a delay is aborted", async () => {
    const provider = createSynth(aHost({ testHooks: true }));
    expect((await failureOf(renderOne(provider, { prompt: "[[delay:60]]" }, AbortSignal.abort()))).kind).to.equal(
      "unavailable",
    );
  });

  it("makes music from a marker where test hooks are off", async () => {
    const provider = createSynth(aHost());
    const track = await renderOne(provider, { prompt: "quiet night [[fail:failed]]" });
    await provider.close?.();
    expect(track.title).to.equal("Quiet Night");
  });
});
