import { expect } from "chai";
import { InvalidRequestError } from "../../../../core/errors.js";
import { type SearchInput, toSearch } from "../../../../core/library/search-rules.js";
import { anId } from "../../../support/builders.js";

const VIEWER = anId("acct");
const LONG = "x".repeat(201);

describe("The rules of a search", () => {
  it("search for everything, ten at most, when nothing is given", () => {
    expect(toSearch(VIEWER, {})).to.deep.equal({ viewer: VIEWER, words: [], mood: null, activity: null, limit: 10 });
  });

  it("fold words and tags, and take a word once", () => {
    expect(
      toSearch(VIEWER, { q: " Café, RAIN café ", mood: "Très  Calme", activity: "Focus", limit: 25 }),
    ).to.deep.equal({
      viewer: VIEWER,
      words: ["cafe", "rain"],
      mood: "tres calme",
      activity: "focus",
      limit: 25,
    });
  });

  it("take what is blank for no filter", () => {
    expect(toSearch(VIEWER, { q: " \t", mood: "", activity: " " })).to.deep.include({
      words: [],
      mood: null,
      activity: null,
    });
  });

  it("take 200 characters of each text, of any script, and 16 words", () => {
    const notes = "🎵".repeat(200);
    expect(toSearch(VIEWER, { q: notes, mood: notes, activity: notes }).mood).to.equal(notes);
    expect(
      toSearch(VIEWER, { q: Array.from({ length: 16 }, (_, index) => `w${index}`).join(" ") }).words,
    ).to.have.length(16);
  });

  const refusals: readonly (readonly [string, SearchInput, readonly string[]])[] = [
    ["texts that are too long", { q: LONG, mood: LONG, activity: LONG }, ["query.q", "query.mood", "query.activity"]],
    ["17 words", { q: "a ".repeat(17) }, ["query.q"]],
    ["a limit of 0", { limit: 0 }, ["query.limit"]],
    ["a limit of 26", { limit: 26 }, ["query.limit"]],
    ["a limit that is no integer", { limit: 1.5 }, ["query.limit"]],
  ];
  for (const [what, input, paths] of refusals) {
    it(`refuse ${what}, by name`, () => {
      try {
        toSearch(VIEWER, input);
        expect.fail("It was taken.");
      } catch (error) {
        expect(error).to.be.instanceOf(InvalidRequestError);
        expect((error as InvalidRequestError).details.issues.map(({ path }) => path)).to.deep.equal(paths);
      }
    });
  }
});
