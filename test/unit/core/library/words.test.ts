import { expect } from "chai";
import fc from "fast-check";
import { foldTag, foldWords } from "../../../../core/library/words.js";
import { anyText } from "../../../support/any-text.js";

const WORDS: readonly (readonly [what: string, text: string, words: readonly string[]])[] = [
  ["case", "Rain ON Tin", ["rain", "on", "tin"]],
  ["accents", "Für Élise, à la Dvořák", ["fur", "elise", "a", "la", "dvorak"]],
  ["accents that stand behind their letter", "e\u0301te\u0301", ["ete"]],
  ["sharp s, small and capital", "Straße GROẞ", ["strasse", "gross"]],
  ["sigma at the end and inside", "ΟΔΥΣΣΕΥΣ οδυσσεύς", ["οδυσσευσ", "οδυσσευσ"]],
  ["i with and without its dot", "İstanbul Iğdır ılık", ["istanbul", "igdir", "ilik"]],
  [
    "letters that have no decomposition",
    "Røyksopp Łódź Đorđe Ħal Ŧ Æther œuvre Þór Ðeep",
    ["royksopp", "lodz", "dorde", "hal", "t", "aether", "oeuvre", "thor", "deep"],
  ],
  ["ligatures, wide and raised letters", "ﬁne Ｔｅｘｔ x²", ["fine", "text", "x2"]],
  ["apostrophes inside a word", "don't don’t donʼt rock'n'roll", ["dont", "dont", "dont", "rocknroll"]],
  ["apostrophes elsewhere", "'quoted' the boys' 'n' ʼtis", ["quoted", "the", "boys", "n", "tis"]],
  ["signs and white space", "lo-fi/hip_hop…(live)\n№ 5\tC♯", ["lo", "fi", "hip", "hop", "live", "no", "5", "c"]],
  ["scripts without case", "雨の音 בוקר", ["雨の音", "בוקר"]],
  ["numbers", "99 Ⅷ ١٢", ["99", "viii", "١٢"]],
  ["repeated words", "la la", ["la", "la"]],
  ["nothing that is a word", " …!🎼\uD83C ", []],
];

describe("Words of a search", () => {
  for (const [what, text, words] of WORDS) {
    it(`fold ${what}`, () => {
      expect(foldWords(text)).to.deep.equal(words);
    });
  }

  it("are the same in front of an accent and alone", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii", maxLength: 40 }), (text) => {
        expect(foldWords(`${text} é`)).to.deep.equal([...foldWords(text), "e"]);
        expect(foldTag(`${text}.é`)).to.equal(foldTag(`${text}.e`));
      }),
    );
  });

  it("are letters and numbers, and stay what they are when folded again", () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const words = foldWords(text);
        expect(words.flatMap(foldWords)).to.deep.equal(words);
        for (const word of words) expect(word).to.match(/^[\p{L}\p{N}]+$/u);
      }),
      { numRuns: 2_000 },
    );
  });

  it("are the same in capitals", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        // Of all marks only the Greek iota below a letter is a letter in capitals.
        fc.pre(!text.normalize("NFD").includes("\u0345"));
        expect(foldWords(text.toUpperCase())).to.deep.equal(foldWords(text));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("Tags of a search", () => {
  it("are compared as a whole: case and accents are ignored, white space is one blank", () => {
    expect(foldTag("  Très\t CALME\n")).to.equal("tres calme");
    expect(foldTag("lo-fi")).to.equal("lo-fi").and.to.not.equal(foldTag("lo fi"));
    expect(foldTag("Straße")).to.equal(foldTag("STRASSE"));
    expect(foldTag(" ")).to.equal("");
  });

  it("stay what they are when folded again", () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        expect(foldTag(foldTag(text))).to.equal(foldTag(text));
      }),
      { numRuns: 2_000 },
    );
  });
});
