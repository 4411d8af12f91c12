import { expect } from "chai";
import { readBrief } from "../../../../plugins/synth/composer/brief.js";
import { titleOf } from "../../../../plugins/synth/composer/title.js";
import { readTestHooks, withoutMarkers } from "../../../../plugins/synth/test-hooks.js";

const briefOf = (prompt: string) => readBrief(prompt, null);

describe("synth brief: words of a prompt", () => {
  for (const [prompt, genre] of [
    ["a dark techno track", "techno"],
    ["Lo-Fi beats to study to", "lofi"],
    ["smooth JAZZ", "jazz"],
    ["drum & bass roller", "drum and bass"],
    ["epic orchestral trailer", "cinematic"],
    ["8-bit boss fight", "chiptune"],
    ["campfire acoustic", "folk"],
    ["boom bap rap", "hip hop"],
    ["slow sad piano", "ballad"],
    ["synthwave drive", "synthwave"],
    ["death metal", "metal"],
    ["deep house", "house"],
  ] as const) {
    it(`hears ${genre} in: ${prompt}`, () => expect(briefOf(prompt).genre.name).to.equal(genre));
  }

  it("keeps a named tempo to the beat", () => {
    expect(briefOf("techno 97 bpm").bpm).to.equal(97);
    expect(briefOf("ambient at 140BPM").bpm).to.equal(140);
    expect(briefOf("house, 124.5 bpm").bpm).to.equal(124);
  });

  it("orders tempo words as a listener would", () => {
    const bpms = ["very slow pop", "slow pop", "fast pop", "very fast pop"].map((prompt) => briefOf(prompt).bpm);
    expect(bpms).to.deep.equal([...bpms].sort((a, b) => a - b));
    expect(new Set(bpms)).to.have.lengthOf(4);
  });

  it("reads keys", () => {
    expect(briefOf("ballad in D minor").key).to.deep.equal({ tonic: 2, mode: "minor" });
    expect(briefOf("pop in F# major").key).to.deep.equal({ tonic: 6, mode: "major" });
    expect(briefOf("rock in Bb minor").key).to.deep.equal({ tonic: 10, mode: "minor" });
    expect(briefOf("jazz, key of e flat major").key).to.deep.equal({ tonic: 3, mode: "major" });
    expect(briefOf("a dorian groove in a dorian").key).to.deep.equal({ tonic: 9, mode: "dorian" });
  });

  it("finds moods, activities and instruments by whole words", () => {
    expect(briefOf("happy workout with violin")).to.deep.include({
      moods: ["happy"],
      activities: ["workout"],
      instruments: ["violin"],
    });
    expect(briefOf("unhappyish").moods).to.deep.equal([]);
  });

  it("takes sad words to darker scales than happy ones", () => {
    expect(briefOf("sad piano").valence).to.be.below(0);
    expect(briefOf("happy piano").valence).to.be.above(0);
    expect(briefOf("sad pop").key.mode).to.equal("minor");
    expect(briefOf("happy pop").key.mode).to.equal("major");
  });

  it("obeys what a prompt does not want", () => {
    expect(briefOf("rock without drums").hasDrums).to.equal(false);
    expect(briefOf("techno no bass").bass).to.equal(null);
    expect(briefOf("solo piano").isSolo).to.equal(true);
  });

  it("reads the same prompt the same way, and decides by itself what it does not understand", () => {
    expect(briefOf("zxqv")).to.deep.equal(briefOf("zxqv"));
    const genres = new Set(Array.from({ length: 60 }, (_, index) => briefOf(`zxqv${index}`).genre.name));
    expect(genres.size).to.be.above(4);
  });
});

describe("synth title", () => {
  for (const [prompt, title] of [
    ["make me a song about the sea", "About the Sea"],
    ["slow sad piano", "Slow Sad Piano"],
    ["", "Untitled"],
    ["!!! 🎵", "Untitled"],
    ["夜の雨", "夜の雨"],
    ["Upbeat pop. With guitars and more", "Upbeat Pop"],
  ] as const) {
    it(`is "${title}" for "${prompt}"`, () => expect(titleOf(prompt)).to.equal(title));
  }

  it("has at most 80 characters and whole ones", () => {
    const title = titleOf("😀".repeat(100) + "a");
    expect(title.length).to.be.at.most(80);
    expect(titleOf("x".repeat(500))).to.have.lengthOf(80);
  });
});

describe("synth test hooks: markers", () => {
  it("reads and removes every marker", () => {
    expect(readTestHooks("a [[fail-times:3:timeout]] b [[delay:0.5]] c [[fail:failed]]")).to.deep.equal({
      prompt: "a b c",
      delayMs: 500,
      failures: [
        { kind: "timeout", times: 3 },
        { kind: "failed", times: Number.POSITIVE_INFINITY },
      ],
    });
  });

  it("leaves alone what it does not understand", () => {
    for (const prompt of [
      "[[fail:outcome_unknown]]",
      "[[delay:soon]]",
      "[[delay:-1]]",
      "[[fail-times:x:failed]]",
      "[fail:failed]",
    ]) {
      expect(readTestHooks(prompt)).to.deep.equal({ prompt, delayMs: 0, failures: [] });
    }
  });

  it("keeps every marker out of titles", () => {
    expect(withoutMarkers("rain [[fail:failed]] song [[x]]")).to.equal("rain song");
  });
});
