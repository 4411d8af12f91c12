import { expect } from "chai";
import { privateWordsBelow, privateWordsIn, proseAndCode } from "../support/plain-words.js";
import { REPOSITORY } from "../support/repository.js";

const wordsIn = (file: string, text: string): readonly string[] =>
  privateWordsIn(file, text).map(({ line, word }) => `${line} ${word.word}`);

describe("The words of code and prose", () => {
  it("are the field's own: no private word of this project came back", () => {
    const uses = privateWordsBelow(REPOSITORY);
    const message = uses.map(({ file, line, word }) => `${file}:${line}: ${word.word}, write ${word.instead} instead`);
    expect(message.length, `\n${message.join("\n")}\n`).to.equal(0);
  });

  it("are read in the sources and documents of every folder", () => {
    const files = proseAndCode(REPOSITORY);
    expect(files).to.include.members(["README.md", "core/README.md", "test/architecture/plain-words.test.ts"]);
    expect(files.filter((file) => /(^|\/)(CHANGELOG|LICENSE)|\/generated\//.test(file))).to.deep.equal([]);
  });
});

describe("The check of private words", () => {
  it("finds them in prose, in strings and in parts of identifiers", () => {
    const text = "// Nobody rings.\nconst isTold = 'out of reach';\nhandsBack(standIn, BELLS, break_off);";
    expect(wordsIn("core/a.ts", text)).to.deep.equal([
      "1 nobody",
      "2 told",
      "2 out of reach",
      "3 bell",
      "3 break off",
      "3 hand back",
      "3 stand-in",
    ]);
  });

  it("finds a word that is private only as an identifier in identifiers alone", () => {
    expect(wordsIn("core/a.ts", "// The answer.\nconst answer = await ask('answer');")).to.deep.equal(["2 answer"]);
    expect(wordsIn("README.md", "The answer.")).to.deep.equal([]);
  });

  it("does not find them within other words", () => {
    expect(wordsIn("core/a.ts", "// Recommended: brainstorming with Isabella, who understands inputs.")).to.deep.equal(
      [],
    );
  });

  it("allows a word where it is the right one", () => {
    expect(wordsIn("plugins/synth/words.ts", '"bell"')).to.deep.equal([]);
    expect(wordsIn("adapters/storage/sql/search/rows.ts", 'key: ["shelf"],\n// Of a shelf.')).to.deep.equal([
      "2 shelf",
    ]);
  });
});
