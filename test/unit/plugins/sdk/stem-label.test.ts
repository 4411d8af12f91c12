import { expect } from "chai";
import { stemLabel } from "../../../../plugins/sdk/index.js";

describe("The label of a stem", () => {
  for (const [name, label] of [
    ["vocals", "vocals"],
    ["Lead Guitar", "lead guitar"],
    ["back-vocals_2", "back-vocals_2"],
    ["ギター", "stem____"],
    ["2", "stem_2"],
    [" ", "stem_ "],
    ["", "stem_"],
    ["Full", "stem_full"],
    ["drums.wav", "drums_wav"],
  ] as const)
    it(`is ${JSON.stringify(label)} where its provider calls it ${JSON.stringify(name)}`, () => {
      expect(stemLabel(name)).to.equal(label);
      expect(stemLabel(name)).to.match(/^[a-z][a-z0-9_ -]*$/);
    });
});
