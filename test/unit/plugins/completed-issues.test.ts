import { expect } from "chai";
import type { ProviderLyrics } from "../../../core/ports/music-provider.js";
import { completedIssues } from "../../contract/music-provider/assets.js";
import { SCRIPTED_TRACK } from "../../support/doubles/scripted-provider.js";

const issuesOf = (lyrics: ProviderLyrics): string[] =>
  completedIssues({ state: "completed", tracks: [{ ...SCRIPTED_TRACK, lyrics }] }, "music");

describe("The check of completed work", () => {
  const words = [
    { text: "Rain", startSeconds: 0, endSeconds: 0.5 },
    { text: "on", startSeconds: 0.5, endSeconds: 0.5 },
  ];

  it("has nothing against lyrics with a text, and words in their order", () => {
    for (const lyrics of [{ text: "Rain" }, { text: "Rain", words }]) expect(issuesOf(lyrics)).to.deep.equal([]);
  });

  it("names lyrics without a text, and words without one or with times that are none", () => {
    expect(issuesOf({ text: " " })).to.have.length(1);
    const [rain, on] = words;
    for (const word of [
      { ...on, text: "" },
      { ...on, startSeconds: -1 },
      { ...on, startSeconds: Number.NaN },
      { ...on, endSeconds: 0.4 },
      { ...on, endSeconds: Infinity },
      { ...on, startSeconds: 120_000, endSeconds: 120_500 },
    ])
      expect(issuesOf({ text: "Rain", words: [rain, word] as typeof words }), JSON.stringify(word)).to.have.length(1);
    expect(issuesOf({ text: "Rain", words: [...words].reverse() })[0]).to.match(/^tracks\[0\]\.lyrics\.words\[1\]: /);
  });
});
