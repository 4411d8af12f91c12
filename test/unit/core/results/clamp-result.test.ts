import { expect } from "chai";
import { clampFailure, clampResult, RESULT_LIMITS } from "../../../../core/results/clamp-result.js";
import {
  type Completed,
  type ProviderAsset,
  ProviderFailure,
  type ProviderHandle,
  type ProviderTrack,
} from "../../../../core/ports/music-provider.js";

const MIX: ProviderAsset = {
  role: "mix",
  label: "full",
  contentType: "audio/mpeg",
  durationSeconds: 183.5,
  source: { kind: "url", url: "https://cdn.example/1.mp3" },
};
const TRACK: ProviderTrack = {
  title: "Regen 🎼 auf Blech",
  bpm: 96.4,
  tags: { mood: ["calm"], activity: [], genre: ["lo-fi"], other: [] },
  assets: [MIX],
  reference: { id: "7", part: 2, isWhole: true, none: null },
};
const DONE: Completed = { state: "completed", tracks: [TRACK], cost: { amount: 0.25, unit: "USD" } };

/** The track as it comes out of a plugin's call. */
function clampTrack(track: object): ProviderTrack {
  const { tracks } = clampResult<Completed>({ ...DONE, tracks: [{ ...TRACK, ...track }] });
  return tracks[0] as ProviderTrack;
}

const durationOf = (durationSeconds: unknown): unknown =>
  clampTrack({ assets: [{ ...MIX, durationSeconds }] }).assets[0]?.durationSeconds;

describe("clampResult", () => {
  it("changes nothing of what a provider usually says", () => {
    const stems = [{ ...MIX, role: "stem" as const, label: "lead guitar" }];
    for (const word of [
      DONE,
      { ...DONE, tracks: [], stems },
      { state: "running", nextPollMs: 5_000, handle: { version: 1, data: { id: 1 } } },
    ])
      expect(clampResult(word)).to.deep.equal(word);
    for (const word of ["cancelled", undefined, null, { state: "absent" }, { trust: "hint" }])
      expect(clampResult(word)).to.equal(word);
  });

  describe("with handles", () => {
    /** `{"version":1,"data":{"id":"…"}}` of so many bytes as JSON. */
    const handleOf = (bytes: number, letter = "x"): ProviderHandle => {
      const rest = JSON.stringify({ version: 1, data: { id: "" } }).length;
      return { version: 1, data: { id: letter.repeat((bytes - rest) / Buffer.byteLength(letter)) } };
    };
    const accepted = (handle: unknown): object => ({ state: "accepted", handle, nextPollMs: 5_000 });
    const LARGEST = handleOf(16_384);
    const circle: Record<string, unknown> = { version: 1 };
    circle["data"] = circle;

    it("keeps one of up to 16 KiB", () => {
      for (const word of [accepted(LARGEST), { ...DONE, handle: LARGEST }])
        expect(clampResult(word)).to.deep.equal(word);
    });

    it("does not know what became of work accepted under a larger one, or under none that can be stored", () => {
      const none = [circle, { data: { id: 1n } }, null, undefined, "7"];
      for (const handle of [handleOf(16_385), handleOf(16_386, "ä"), ...none]) {
        expect(() => clampResult(accepted(handle)))
          .to.throw(ProviderFailure)
          .with.property("kind", "outcome_unknown");
      }
    });

    it("lets one that is too large not replace the one before", () => {
      const running = { state: "running", nextPollMs: 5_000 };
      for (const word of [running, DONE]) {
        expect(clampResult({ ...word, handle: handleOf(16_385) })).to.deep.equal(word);
        const verified = { trust: "verified", snapshot: { ...word, handle: circle } };
        expect(clampResult(verified)).to.deep.equal({ trust: "verified", snapshot: word });
      }
    });
  });

  it("keeps titles to 200 characters of one line, and takes one without a character for none", () => {
    expect(clampTrack({ title: "x".repeat(5_000_000) }).title).to.equal("x".repeat(200));
    expect(clampTrack({ title: "🎼".repeat(300) }).title).to.equal("🎼".repeat(200));
    expect(clampTrack({ title: "a\u001b[31mb\u009b\u202ec\n\td\u0000\ud800" }).title).to.equal("a [31mb c d");
    for (const title of ["", " \u0000 ", 7, {}, undefined]) expect(clampTrack({ title }).title).to.equal(null);
  });

  it("takes lengths and tempos that are none for not said", () => {
    for (const length of [0, 0.5, 86_400]) expect(durationOf(length)).to.equal(length);
    for (const length of [1e308, Infinity, -Infinity, Number.NaN, -1, 86_401, "12", undefined])
      expect(durationOf(length)).to.equal(null);
    for (const bpm of [1, 96.4, 1_000]) expect(clampTrack({ bpm }).bpm).to.equal(bpm);
    for (const bpm of [1_001, 1e308, Infinity, Number.NaN, 0, -5, 0.2, "96", undefined])
      expect(clampTrack({ bpm }).bpm).to.equal(null);
  });

  it("keeps tags few and short, whatever they contain", () => {
    const mood = [...Array<string>(80).fill("calm"), "x"];
    const other = ["y".repeat(60), "", "a\u0007b", 5, null];
    const { tags } = clampTrack({ tags: { mood, genre: "rock", other } });
    expect(tags).to.deep.equal({ mood: mood.slice(0, 50), activity: [], genre: [], other: ["y".repeat(50), "a b"] });
    for (const none of [undefined, null, "calm"])
      expect(clampTrack({ tags: none }).tags).to.deep.equal({ mood: [], activity: [], genre: [], other: [] });
  });

  it("keeps tracks, files and labels countable, and passes over what is neither", () => {
    const { tracks } = clampResult({
      ...DONE,
      tracks: [null, ...Array<ProviderTrack>(500).fill(TRACK)],
    } as unknown as Completed);
    expect(tracks).to.have.lengthOf(RESULT_LIMITS.tracks - 1);
    expect(clampTrack({ assets: Array<ProviderAsset>(500).fill(MIX) }).assets).to.have.lengthOf(RESULT_LIMITS.assets);
    expect(clampTrack({ assets: "none" }).assets).to.deep.equal([]);
    expect(clampTrack({ assets: [{ ...MIX, label: "l".repeat(300) }] }).assets[0]?.label).to.have.lengthOf(100);
    expect(clampResult({ state: "completed" } as unknown as Completed).tracks).to.deep.equal([]);
  });

  it("leaves out a reference that cannot be stored whole, and a cost that is none", () => {
    for (const reference of [{ id: Infinity }, { id: { deep: 1 } }, { id: "i".repeat(5_000) }, "7", [7]])
      expect(clampTrack({ reference }), JSON.stringify(reference)).to.not.have.property("reference");
    for (const cost of [{ amount: Infinity, unit: "USD" }, { amount: -1, unit: "USD" }, { amount: 1 }, "1 USD", null])
      expect(clampResult({ ...DONE, cost }), JSON.stringify(cost)).to.not.have.property("cost");
  });

  it("keeps the wait for the next poll a number within a day", () => {
    const handle = { version: 1, data: {} };
    for (const nextPollMs of [Infinity, Number.NaN, 1e308, -5, "soon"]) {
      const { nextPollMs: wait } = clampResult({ state: "accepted", handle, nextPollMs });
      expect(wait, String(nextPollMs)).to.be.a("number").and.within(1, 86_400_000);
    }
  });

  it("reads the words of callbacks and probes alike", () => {
    const verified = clampResult({ trust: "verified", snapshot: { ...DONE, tracks: [{ ...TRACK, bpm: Infinity }] } });
    expect((verified.snapshot.tracks[0] as ProviderTrack).bpm).to.equal(null);
    expect(clampResult({ trust: "forged", reason: `a\u001b${"b".repeat(5_000)}` }).reason).to.have.lengthOf(1_000);
    const probe = clampResult({
      credit: { amount: Number.NaN, unit: "USD" },
      warnings: ["a\u001bb", ...Array<string>(90).fill("w")],
    });
    expect([probe.credit, probe.warnings[0], probe.warnings.length]).to.deep.equal([null, "a b", 20]);
  });
});

describe("clampFailure", () => {
  it("gives a failure back that keeps the limits", () => {
    const failure = new ProviderFailure("rate_limited", "slow down", {
      retryAfterMs: 5,
      providerCode: "E1",
      requestId: "r",
    });
    expect(clampFailure(failure)).to.equal(failure);
  });

  it("shortens words, and keeps what the core decides by", () => {
    const cause = new Error("theirs");
    const words = {
      retryAfterMs: Infinity,
      providerCode: "c".repeat(500),
      requestId: "r\u001b".repeat(500),
      billable: "yes" as const,
      cause,
    };
    const failure = clampFailure(new ProviderFailure("failed", `a\u001b[2J\n${"m".repeat(5_000_000)}`, words));
    expect([failure.kind, failure.billable, failure.retryAfterMs, failure.cause]).to.deep.equal([
      "failed",
      "yes",
      null,
      cause,
    ]);
    expect(failure.message)
      .to.have.lengthOf(1_000)
      .and.to.match(/^a \[2J m+$/);
    expect([failure.providerCode?.length, failure.requestId?.length]).to.deep.equal([100, 99]);
  });
});
