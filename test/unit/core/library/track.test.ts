import { expect } from "chai";
import fc from "fast-check";
import { assetOf, titleFromPrompt, titleOf } from "../../../../core/library/track.js";
import { anAsset } from "../../../support/builders.js";
import { anyText } from "../../../support/any-text.js";

describe("titleOf", () => {
  it("is the provider's title without control characters", () => {
    expect(titleOf("Rain\u001b[2J\u202e\non tin", "a prompt")).to.equal("Rain[2J on tin");
  });

  it("comes from the prompt when nothing of a title is left, without its control characters either", () => {
    for (const given of [null, "", " ", "\u200b\u0007"]) {
      expect(titleOf(given, "slow\u001b\nrain")).to.equal("slow rain");
    }
  });
});

describe("titleFromPrompt", () => {
  const titles = {
    "rain on a tin roof": "rain on a tin roof",
    "  rain \n\t on   a tin roof ": "rain on a tin roof",
    "": "Untitled",
    " \n ": "Untitled",
    ["a".repeat(80)]: "a".repeat(80),
  };
  for (const [prompt, title] of Object.entries(titles)) {
    it(`makes ${JSON.stringify(title)} of ${JSON.stringify(prompt)}`, () => {
      expect(titleFromPrompt(prompt)).to.equal(title);
    });
  }

  it("cuts a long prompt at the last space that fits", () => {
    const words = "nine char ".repeat(20).trim();
    expect(titleFromPrompt(words)).to.equal(`${"nine char ".repeat(8).trim().slice(0, -5)} char…`);
  });

  it("cuts a long word in its middle when there is no space to cut at", () => {
    expect(titleFromPrompt(`a ${"b".repeat(200)}`)).to.equal(`a ${"b".repeat(38)}…`);
  });

  it("never cuts an emoji in two", () => {
    for (const lead of ["", "a", "ab"]) {
      const title = titleFromPrompt(`${lead}${"\u{1f3b5}".repeat(100)}`);
      expect(title.isWellFormed()).to.equal(true);
      expect([...title]).to.have.length(41);
    }
  });

  it("is well-formed, on one line, never empty and at most 81 code points, whatever the prompt", () => {
    fc.assert(
      fc.property(anyText(300), (prompt) => {
        const title = titleFromPrompt(prompt);
        expect(title.isWellFormed()).to.equal(true);
        expect([...title].length).to.be.within(1, 81);
        expect(title).not.to.match(/[\n\r\t]/);
      }),
    );
  });
});

describe("assetOf", () => {
  it("finds the first asset of a role, or none", () => {
    const [mix, first, second] = [
      anAsset(),
      anAsset({ role: "stem", label: "vocals" }),
      anAsset({ role: "stem", label: "drums" }),
    ];
    const track = { assets: [mix, first, second] };
    expect(assetOf(track, "stem")).to.equal(first);
    expect(assetOf(track, "cover")).to.equal(null);
  });
});
