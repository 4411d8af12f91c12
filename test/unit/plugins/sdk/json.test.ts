import { expect } from "chai";
import {
  asObject,
  fileEndingOf,
  ASSET_CONTENT_TYPES,
  isLink,
  isObject,
  NO_TAGS,
  parseJson,
} from "../../../../plugins/sdk/index.js";

describe("Readers of the plugin SDK", () => {
  it("accept a JSON object, and find no members in anything else", () => {
    expect([isObject({ id: 7 }), asObject({ id: 7 })]).to.deep.equal([true, { id: 7 }]);
    for (const other of [undefined, null, 7, "id", true, ["id"], [{ id: 7 }]])
      expect([isObject(other), asObject(other)], JSON.stringify(other)).to.deep.equal([false, {}]);
  });

  it("parse JSON as text and as bytes; anything else is undefined", () => {
    const text = '{"title":"Über"}';
    expect([parseJson(text), parseJson(new TextEncoder().encode(text))]).to.deep.equal([
      { title: "Über" },
      { title: "Über" },
    ]);
    for (const other of ["", "<html>", "{"]) expect(parseJson(other), other).to.equal(undefined);
  });

  it("accept a whole http or https URL as a link, and nothing else", () => {
    for (const link of ["https://files.example/a.mp3?x=1", "http://127.0.0.1:8080/a", "HTTPS://FILES.EXAMPLE/a"])
      expect(isLink(link), link).to.equal(true);
    const others = [
      undefined,
      null,
      7,
      "",
      "https://",
      "http://[",
      "ftp://files.example/a",
      "/a.mp3",
      "data:audio/mpeg;base64,AA",
    ];
    for (const other of [...others, ["https://a.example"]])
      expect(isLink(other), JSON.stringify(other)).to.equal(false);
  });

  it("know a file ending for every content type that is stored, and tags that say nothing", () => {
    expect(ASSET_CONTENT_TYPES.map(fileEndingOf)).to.deep.equal([
      "mp3",
      "wav",
      "flac",
      "ogg",
      "m4a",
      "png",
      "jpg",
      "webp",
    ]);
    expect(NO_TAGS).to.deep.equal({ mood: [], activity: [], genre: [], other: [] });
  });
});
