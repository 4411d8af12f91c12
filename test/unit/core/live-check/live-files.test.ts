import { expect } from "chai";
import { LiveFiles } from "../../../../core/live-check/live-files.js";
import type { AssetOpener } from "../../../../core/ports/asset-opener.js";
import { type AudioAnalyser, AudioUnreadableError } from "../../../../core/ports/audio-analyser.js";
import {
  type AssetContentType,
  type Completed,
  ProviderFailure,
  type ProviderAsset,
} from "../../../../core/ports/music-provider.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";

interface Opened {
  readonly contentType: AssetContentType;
  readonly chunks: readonly Uint8Array[];
}

const SIGNAL = new AbortController().signal;

describe("The files of a live check", () => {
  let clock: ManualClock;
  /** What opening does, once each; then the last one. */
  let openings: (Opened | Error)[];
  let opened: number;
  let closed: number;
  let listen: (bytes: AsyncIterable<Uint8Array>) => Promise<number | null>;
  beforeEach(() => {
    clock = new ManualClock();
    openings = [file("audio/mpeg")];
    [opened, closed] = [0, 0];
    listen = async () => 12;
  });

  function file(contentType: AssetContentType, ...chunks: readonly Uint8Array[]): Opened {
    return { contentType, chunks: chunks.length === 0 ? [new Uint8Array(600), new Uint8Array(400)] : chunks };
  }

  async function* read(chunks: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
    try {
      yield* chunks;
    } finally {
      closed += 1;
    }
  }

  function anAsset(changes: Partial<ProviderAsset> = {}): ProviderAsset {
    const source = { kind: "bytes", bytes: new Uint8Array() } as const;
    return { role: "mix", label: "full", contentType: null, durationSeconds: null, source, ...changes };
  }

  const completed = (...assets: readonly ProviderAsset[]): Completed => ({
    state: "completed",
    tracks: [{ title: "Hoot", bpm: null, tags: { mood: [], activity: [], genre: [], other: [] }, assets }],
  });

  async function check(result: Completed, askedSeconds: number | null = null, signal = SIGNAL) {
    const opener: AssetOpener = {
      open: async (_source, options) => {
        expect(options).to.include({ providerId: "owl", maxBytes: 5_000 });
        const next = openings[Math.min(opened, openings.length - 1)] as Opened | Error;
        opened += 1;
        if (next instanceof Error) throw next;
        return { contentType: next.contentType, bytes: read(next.chunks) };
      },
      close: () => Promise.resolve(),
    };
    const analyser: AudioAnalyser = {
      analyse: async (source) => {
        const durationSeconds = await listen(source as AsyncIterable<Uint8Array>);
        return durationSeconds === null ? null : { durationSeconds, waveform: [], preview: null };
      },
      close: () => Promise.resolve(),
    };
    const files = new LiveFiles({ opener, analyser, clock, maxBytes: 5_000 });
    return files.check(result, { providerId: "owl", askedSeconds, signal });
  }

  async function issuesOf(asset: ProviderAsset, askedSeconds: number | null = null): Promise<readonly string[]> {
    const [track] = await check(completed(anAsset(), asset), askedSeconds);
    return track?.files[1]?.issues ?? ["not checked"];
  }

  it("reports the type, size and length of each, also where the decoder does not read to the end", async () => {
    listen = async (bytes) => {
      for await (const _ of bytes) break;
      return 12;
    };
    const found = { contentType: "audio/mpeg", sizeBytes: 1_000, durationSeconds: 12, issues: [] };
    expect(await check(completed(anAsset({ contentType: "audio/mpeg", durationSeconds: 12.4 })), 10)).to.deep.equal([
      { title: "Hoot", issues: [], files: [{ role: "mix", label: "full", ...found }] },
    ]);
  });

  it("decodes no pictures, and nothing where no decoder knows the format", async () => {
    openings = [file("audio/ogg"), file("image/png")];
    listen = async () => null;
    const [track] = await check(completed(anAsset(), anAsset({ role: "cover" })), 10);
    expect(track?.files.map(({ durationSeconds, issues }) => [durationSeconds, issues])).to.deep.equal([
      [null, []],
      [null, []],
    ]);
  });

  it("finds a picture in place of sound, and a type that is not the declared one", async () => {
    openings = [file("audio/mpeg"), file("image/png")];
    expect(await issuesOf(anAsset({ role: "stem", label: "bass" }))).to.deep.equal([
      "It is image/png, which no stem can be.",
    ]);
    openings = [file("audio/mpeg")];
    expect(await issuesOf(anAsset({ role: "master", contentType: "audio/wav" }))).to.deep.equal([
      "The plugin says audio/wav; its bytes say audio/mpeg.",
    ]);
  });

  it("finds sound that does not decode, and keeps its type and size", async () => {
    listen = () => Promise.reject(new AudioUnreadableError("no frame"));
    const [track] = await check(completed(anAsset()));
    expect(track?.files[0]).to.deep.include({ contentType: "audio/mpeg", sizeBytes: 1_000, durationSeconds: null });
    expect(track?.files[0]?.issues).to.deep.equal(["It does not decode: no frame"]);
  });

  it("finds a length far from what was asked for, but not of a preview", async () => {
    listen = async () => 600;
    expect(await issuesOf(anAsset({ role: "master" }), 10)).to.deep.equal(["It lasts 600 s; asked for were 10 s."]);
    expect(await issuesOf(anAsset({ role: "preview" }), 10)).to.deep.equal([]);
    listen = async () => 3;
    expect(await issuesOf(anAsset({ role: "master" }), 10)).to.deep.equal(["It lasts 3 s; asked for were 10 s."]);
    listen = async () => 95;
    expect(await issuesOf(anAsset({ role: "master" }), null)).to.deep.equal([]);
  });

  for (const [asked, lasts, isFine] of [
    [10, 4, true],
    [10, 3.9, false],
    [10, 30, true],
    [10, 30.1, false],
  ] as const) {
    it(`${isFine ? "accepts" : "reports"} ${lasts} s where ${asked} s were asked for`, async () => {
      listen = async () => lasts;
      expect(await issuesOf(anAsset({ role: "master" }), asked)).to.have.length(isFine ? 0 : 1);
    });
  }

  for (const [said, lasts, isFine] of [
    [12, 10, true],
    [12.1, 10, false],
    [110, 100, true],
    [110.1, 100, false],
  ] as const) {
    it(`${isFine ? "accepts" : "reports"} ${lasts} s where the plugin says ${said} s`, async () => {
      listen = async () => lasts;
      expect(await issuesOf(anAsset({ role: "master", durationSeconds: said }))).to.have.length(isFine ? 0 : 1);
    });
  }

  it("finds milliseconds in place of seconds", async () => {
    expect(await issuesOf(anAsset({ role: "master", durationSeconds: 12_000 }))).to.deep.equal([
      "The plugin says that it lasts 12000 s; it lasts 12 s.",
    ]);
  });

  it("finds a track without a mix", async () => {
    const [track] = await check(completed(anAsset({ role: "master" })));
    expect(track?.issues).to.deep.equal(["It came without a mix, the playable file."]);
  });

  it("goes on with the next file after one that cannot be had", async () => {
    openings = [new ProviderFailure("gone", "404"), file("audio/mpeg")];
    const [track] = await check(completed(anAsset(), anAsset({ role: "master" })));
    expect(track?.files.map(({ issues }) => issues)).to.deep.equal([["It could not be had (gone): 404"], []]);
  });

  it("opens a file up to three times that cannot be had now", async () => {
    const busy = new ProviderFailure("unavailable", "busy");
    openings = [busy, busy, file("audio/mpeg")];
    const checking = check(completed(anAsset()));
    await clock.advance(10_000);
    expect((await checking)[0]?.files[0]?.issues).to.deep.equal([]);
    [openings, opened] = [[busy], 0];
    const failing = check(completed(anAsset()));
    await clock.advance(10_000);
    expect((await failing)[0]?.files[0]?.issues).to.deep.equal(["It could not be had (unavailable): busy"]);
    expect(opened).to.equal(3);
  });

  it("closes a file of which it reads no more, and ends with the signal", async () => {
    const stop = new AbortController();
    listen = async (bytes) => {
      for await (const _ of bytes) break;
      stop.abort(new Error("stopped"));
      throw new Error("aborted");
    };
    const reason = await check(completed(anAsset()), null, stop.signal).catch((error: unknown) => error);
    expect(reason).to.equal(stop.signal.reason);
    expect(closed).to.equal(1);
  });
});
