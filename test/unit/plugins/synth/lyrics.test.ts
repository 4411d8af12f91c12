import { expect } from "chai";
import { lyricsFrom, readLyrics, syllablesOf } from "../../../../plugins/synth/composer/lyrics.js";

const countOf = (text: string): number => syllablesOf(text).length;

describe("synth lyrics: syllables", () => {
  for (const [word, count] of [
    ["love", 1],
    ["baby", 2],
    ["tonight", 2],
    ["beautiful", 3],
    ["remember", 3],
    ["walked", 1],
    ["wanted", 2],
    ["table", 2],
    ["people", 2],
    ["fire", 1],
    ["rhythm", 1],
    ["the", 1],
    ["everybody", 4],
    ["queen", 1],
    ["dreams", 1],
    ["lives", 1],
    ["roses", 2],
    ["yesterday", 3],
    ["привет", 2],
    ["любовь", 2],
    ["καλημέρα", 4],
    ["夜の雨", 3],
    ["사랑", 2],
    ["hmm", 1],
    ["42", 2],
    ["corazón", 3],
    ["schön", 1],
  ] as const) {
    it(`gives ${count} for "${word}"`, () => expect(countOf(word)).to.equal(count));
  }

  it("knows vowels and consonants by their letters", () => {
    expect(syllablesOf("see")[0]).to.include({ onset: "s", vowel: "ee", coda: null });
    expect(syllablesOf("moon")[0]).to.include({ onset: "m", vowel: "oo", coda: "n" });
    expect(syllablesOf("now")[0]).to.include({ vowel: "ah", glide: "oo" });
    expect(syllablesOf("cat")[0]).to.include({ onset: "k", vowel: "ah", coda: "t" });
  });

  it("loses no letter of a word", () => {
    for (const word of ["strength", "crystal", "melody", "syzygy", "ocean", "quiet"]) {
      expect(
        syllablesOf(word)
          .map(({ text }) => text)
          .join(""),
      ).to.equal(word);
    }
  });
});

describe("synth lyrics: parts and lines", () => {
  it("takes parts from their marks", () => {
    const parts = readLyrics(
      "[Verse 1]\none line\ntwo lines\n\n(Chorus)\nsing along\n(ooh ooh)\n[Bridge]\nturn\n[Outro]\nbye",
    );
    expect(parts.map(({ kind, lines }) => `${kind} ${lines.length}`)).to.deep.equal([
      "verse 2",
      "chorus 2",
      "bridge 1",
      "outro 1",
    ]);
  });

  it("takes turns of verse and chorus where stanzas have no marks", () => {
    expect(readLyrics("a b\nc d\n\ne f\n\ng h").map(({ kind }) => kind)).to.deep.equal(["verse", "chorus", "verse"]);
  });

  it("breathes in long lines without dropping a syllable", () => {
    const [part] = readLyrics("la ".repeat(50));
    expect(part?.lines.flat()).to.have.lengthOf(50);
    for (const line of part?.lines ?? []) expect(line.length).to.be.at.most(12);
  });

  it("sings something where there is nothing to sing", () => {
    for (const lyrics of ["", "   \n\n", "🎵🎶", "[Verse]\n\n[Chorus]", "...!?"]) {
      expect(readLyrics(lyrics).flatMap(({ lines }) => lines.flat()).length, lyrics).to.be.above(0);
    }
  });

  it("makes verse and refrain of a prompt", () => {
    const [verse, chorus] = lyricsFrom("walking home through the silent snow");
    expect([verse?.kind, chorus?.kind]).to.deep.equal(["verse", "chorus"]);
    expect(chorus?.lines[0]?.map(({ text }) => text).join("")).to.equal("walkinghomthrough");
  });
});
