import { expect } from "chai";
import { optionsFromText } from "../../../adapters/cli/generations.js";
import { SCRIPTED_OPTIONS } from "../../support/doubles/scripted-provider.js";

const typed = (...given: readonly (readonly [string, string])[]): object =>
  optionsFromText(SCRIPTED_OPTIONS, new Map(given));

describe("Options of the command line", () => {
  it("get the types that the model declares", () => {
    const given = typed(
      ["seed", "42"],
      ["style_weight", "0.25"],
      ["loop", "true"],
      ["key", "F# minor"],
      ["negative_prompt", "7"],
    );
    expect(given).to.deep.equal({ seed: 42, style_weight: 0.25, loop: true, key: "F# minor", negative_prompt: "7" });
    expect(typed(["loop", "false"], ["seed", "-1"])).to.deep.equal({ loop: false, seed: -1 });
  });

  it("stay text where they do not read as their type, and where nothing is declared: the host refuses them", () => {
    const odd = [
      ["seed", "0x10"],
      ["style_weight", ""],
      ["loop", "yes"],
      ["unknown", "1"],
      ["constructor", "1"],
    ] as const;
    expect(typed(...odd)).to.deep.equal(Object.fromEntries(odd));
    expect(optionsFromText(undefined, new Map([["seed", "1"]]))).to.deep.equal({ seed: "1" });
  });
});
