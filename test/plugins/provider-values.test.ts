import { expect } from "chai";
import { ASSET_CONTENT_TYPES, bagOf, fileEndingOf, isLink, isObject, NO_TAGS } from "../../core/ports/music-provider.js";

describe("What plugins read answers with", () => {
  it("takes a JSON object for one, and finds no members in anything else", () => {
    expect([isObject({ id: 7 }), bagOf({ id: 7 })]).to.deep.equal([true, { id: 7 }]);
    for (const other of [undefined, null, 7, "id", true, ["id"], [{ id: 7 }]])
      expect([isObject(other), bagOf(other)], JSON.stringify(other)).to.deep.equal([false, {}]);
  });

  it("takes a whole http or https URL for a link, and nothing else", () => {
    for (const link of ["https://files.example/a.mp3?x=1", "http://127.0.0.1:8080/a", "HTTPS://FILES.EXAMPLE/a"])
      expect(isLink(link), link).to.equal(true);
    const others = [undefined, null, 7, "", "https://", "http://[", "ftp://files.example/a", "/a.mp3", "data:audio/mpeg;base64,AA"];
    for (const other of [...others, ["https://a.example"]]) expect(isLink(other), JSON.stringify(other)).to.equal(false);
  });

  it("has an ending of its own for every kind of file that is stored", () => {
    const endings = ASSET_CONTENT_TYPES.map(fileEndingOf);
    expect(endings).to.deep.equal(["mp3", "wav", "flac", "ogg", "m4a", "png", "jpg", "webp"]);
  });

  it("has tags that say nothing", () => {
    expect(NO_TAGS).to.deep.equal({ mood: [], activity: [], genre: [], other: [] });
  });
});
