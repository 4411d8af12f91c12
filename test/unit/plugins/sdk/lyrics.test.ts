import { expect } from "chai";
import { lyricsOf, timedWord } from "../../../../plugins/sdk/index.js";

describe("lyricsOf", () => {
  it("gives a text and the words with times, without blanks around", () => {
    const words = [{ text: "Rain", startSeconds: 1, endSeconds: 2 }];
    expect(lyricsOf(" [Verse]\nRain\n", words)).to.deep.equal({ lyrics: { text: "[Verse]\nRain", words } });
    expect(lyricsOf("雨")).to.deep.equal({ lyrics: { text: "雨" } });
  });

  it("gives none where the text is none, or says that nothing is sung", () => {
    for (const text of [undefined, null, 7, "", " \n", "[Instrumental]", "(instrumental)", "[inst]", "N/A", "---"])
      expect(lyricsOf(text), String(text)).to.deep.equal({});
    for (const text of ["Na", "Instrumental love", "[Intro]\n[Instrumental]"])
      expect(lyricsOf(text)).to.have.property("lyrics");
  });

  it("is quick with a long text without words", () => {
    const started = performance.now();
    expect(lyricsOf(`${"-".repeat(2_000_000)}a`)).to.have.property("lyrics");
    expect(performance.now() - started).to.be.below(1_000);
  });
});

describe("timedWord", () => {
  it("has its times in seconds, and is none without a text", () => {
    expect(timedWord(" Rain ", 1_250, 1_500)).to.deep.equal([{ text: "Rain", startSeconds: 1.25, endSeconds: 1.5 }]);
    for (const text of ["", " \n", null, 7]) expect(timedWord(text, 0, 1)).to.deep.equal([]);
  });

  it("keeps a time that is none, so that the host drops those of all words", () => {
    for (const time of [null, "5", undefined]) expect(timedWord("Rain", time, 1)[0]?.startSeconds).to.be.NaN;
  });
});
