import { expect } from "chai";
import { isShareToken, newShareToken, ShareUrls } from "../../../../core/library/share-urls.js";
import { aTrack } from "../../../support/builders.js";

/** Gives the same bytes again and again. */
const always = (...values: number[]) => ({
  bytes: (count: number) => Uint8Array.from({ length: count }, (_, index) => values[index % values.length] as number),
});

describe("share tokens", () => {
  it("are 22 letters and digits", () => {
    const token = newShareToken(always(...Array.from({ length: 62 }, (_, index) => index)));
    expect(token).to.equal("0123456789ABCDEFGHIJKL");
    expect(isShareToken(token)).to.equal(true);
  });

  it("leave out the bytes that would make some characters likelier than others", () => {
    expect(newShareToken(always(255, 248, 247, 61))).to.equal("zz".repeat(11));
  });

  it("are distinguished from everything else", () => {
    const almost = "a".repeat(21);
    for (const text of [
      "",
      almost,
      `${almost}aa`,
      `${almost}-`,
      `${almost}é`,
      `${almost}a\n`,
      "../../../etc/passwd/xx",
    ]) {
      expect(isShareToken(text), text).to.equal(false);
    }
  });
});

describe("ShareUrls", () => {
  it("names the page of a shared track below the public URL of the moment", () => {
    let publicUrl = "http://127.0.0.1:8080";
    const urls = new ShareUrls(() => publicUrl);
    const track = aTrack({ shareToken: "a".repeat(22) });
    expect(urls.urlOf(track)).to.equal(`http://127.0.0.1:8080/share/${"a".repeat(22)}`);
    publicUrl = "https://example.com/music";
    expect(urls.urlOf(track)).to.equal(`https://example.com/music/share/${"a".repeat(22)}`);
  });

  it("has none for a track that is not shared", () => {
    expect(new ShareUrls(() => "http://x").urlOf(aTrack())).to.equal(null);
  });
});
