import { expect } from "chai";
import { LYRICS_LIMITS } from "../../../../core/results/clamp-lyrics.js";
import { clampResult } from "../../../../core/results/clamp-result.js";
import { type Completed, type ProviderLyrics, type ProviderTrack } from "../../../../core/ports/music-provider.js";

const TRACK: ProviderTrack = {
  title: "Rain",
  bpm: null,
  tags: { mood: [], activity: [], genre: [], other: [] },
  assets: [],
};
const LYRICS: ProviderLyrics = {
  text: "[Verse]\nRegen 🎼 auf Blech\n\n[Chorus]\nدَمٌ",
  words: [
    { text: "Regen", startSeconds: 0, endSeconds: 0.4 },
    { text: "🎼", startSeconds: 0.4, endSeconds: 0.4 },
    { text: "auf", startSeconds: 86_399.123, endSeconds: 86_400 },
  ],
};

/** What comes out of a plugin's call for tracks with these lyrics. */
const clampAll = (...lyrics: readonly unknown[]): (ProviderLyrics | undefined)[] =>
  clampResult({ state: "completed", tracks: lyrics.map((one) => ({ ...TRACK, lyrics: one })) } as Completed).tracks.map(
    (track) => track.lyrics,
  );
const clamp = (lyrics: unknown): ProviderLyrics | undefined => clampAll(lyrics)[0];
const textOf = (text: unknown): unknown => clamp({ text })?.text;
const wordsOf = (...words: readonly unknown[]): unknown => clamp({ text: "Rain", words })?.words;

describe("clampResult with lyrics", () => {
  it("changes nothing of what a provider usually gives", () => {
    expect(clamp(LYRICS)).to.deep.equal(LYRICS);
    expect(clamp({ text: "Rain" })).to.deep.equal({ text: "Rain" });
  });

  it("leaves none where there is no text", () => {
    const none = [undefined, null, "Rain", [], {}, { text: 7 }, { text: "" }, { text: " \n\u0000 " }, { words: [] }];
    for (const lyrics of none) {
      const { tracks } = clampResult({ state: "completed", tracks: [{ ...TRACK, lyrics }] } as unknown as Completed);
      expect(tracks, JSON.stringify(lyrics)).to.deep.equal([TRACK]);
    }
  });

  it("cuts a text at 50,000 characters, whatever its length", () => {
    expect(textOf("x".repeat(5_000_000))).to.equal("x".repeat(50_000));
    expect(textOf("🎼".repeat(60_000))).to.equal("🎼".repeat(50_000));
  });

  it("keeps line breaks, however they are written, and takes control characters and invisible formatting out", () => {
    expect(textOf("\n one\r\ntwo \rthree\u2028\u0085four\n\n")).to.equal("one\ntwo\nthree\n\nfour");
    expect(textOf("a\u001b[31mb\u009b\u202ec\td\u0000\ud800")).to.equal("a[31mbc d");
  });

  it("puts the times of words into order, to the millisecond, and their texts on one line", () => {
    const words = [
      { text: " two\n words ", startSeconds: 1.0004, endSeconds: 2.00051, confidence: 0.9 },
      { text: "one", startSeconds: 0, endSeconds: 5 },
    ];
    expect(wordsOf(...words)).to.deep.equal([
      { text: "one", startSeconds: 0, endSeconds: 5 },
      { text: "two words", startSeconds: 1, endSeconds: 2.001 },
    ]);
    expect(wordsOf({ text: "la".repeat(500), startSeconds: 0, endSeconds: 1 })).to.deep.equal([
      { text: "la".repeat(100), startSeconds: 0, endSeconds: 1 },
    ]);
  });

  it("drops the times of all words where one is wrong, and keeps the text", () => {
    const right = { text: "a", startSeconds: 1, endSeconds: 2 };
    const wrong: readonly object[] = [
      ...[-1, Number.NaN, Infinity, "1", null, 3].map((startSeconds) => ({ ...right, startSeconds })),
      ...[0.5, Number.NaN, 86_401, Infinity, "2", undefined].map((endSeconds) => ({ ...right, endSeconds })),
      ...["", " \u0007", 7, undefined].map((text) => ({ ...right, text })),
    ];
    for (const word of [...wrong, null, "a", []]) {
      expect(clamp({ text: "Rain", words: [right, word, right] }), JSON.stringify(word)).to.deep.equal({
        text: "Rain",
      });
    }
    for (const words of ["none", {}, [], null]) expect(clamp({ text: "Rain", words })).to.deep.equal({ text: "Rain" });
  });

  it("keeps the times of up to 10,000 words", () => {
    const words = Array.from({ length: 10_001 }, (_, index) => ({ text: "a", startSeconds: index, endSeconds: index }));
    expect(clamp({ text: "Rain", words: words.slice(1) })?.words).to.have.length(10_000);
    expect(clamp({ text: "Rain", words })).to.deep.equal({ text: "Rain" });
  });

  it("leaves the lyrics out of the tracks from which on a result's would be larger than 2 MiB", () => {
    const word = { text: "ä".repeat(100), startSeconds: 0.001, endSeconds: 86_399.999 };
    const large = { text: "Rain", words: Array.from({ length: 4_000 }, () => word) };
    const bytes = Buffer.byteLength(JSON.stringify(large));
    expect(bytes * 2).to.be.below(LYRICS_LIMITS.resultBytes);
    expect(bytes * 3).to.be.above(LYRICS_LIMITS.resultBytes);
    expect(clampAll(large, large, large, LYRICS).map((kept) => kept !== undefined)).to.deep.equal([
      true,
      true,
      false,
      false,
    ]);
  });
});
