import { expect } from "chai";
import { readS3Url } from "../../../adapters/audio/s3/s3-url.js";

describe("The URL of a bucket", () => {
  it("names bucket, prefix and region", () => {
    expect(readS3Url("s3://my-music.files/a/b/?region=eu-central-1")).to.deep.equal({
      bucket: "my-music.files",
      prefix: "a/b",
      region: "eu-central-1",
      endpoint: null,
      pathStyle: false,
    });
    expect(readS3Url("s3://music")).to.deep.equal({
      bucket: "music",
      prefix: "",
      region: null,
      endpoint: null,
      pathStyle: false,
    });
  });

  it("has a region and the bucket in the path for a server of one's own, unless it says otherwise", () => {
    const own = "s3://music/files?endpoint=https://s3.example.com:9000/";
    expect(readS3Url(own)).to.deep.equal({
      bucket: "music",
      prefix: "files",
      region: "us-east-1",
      endpoint: "https://s3.example.com:9000",
      pathStyle: true,
    });
    expect(readS3Url(`${own}&region=garage&pathStyle=false`)).to.include({ region: "garage", pathStyle: false });
  });

  const refused: readonly (readonly [url: string, words: string])[] = [
    ["file:/var/audio", "has the form s3://BUCKET/PREFIX"],
    ["s3:music", "The bucket"],
    ["s3://music#x", "has the form"],
    ["s3://KEY:SECRET@music", "no user or password"],
    ["s3://Music", "The bucket"],
    ["s3://ab", "The bucket"],
    ["s3://music:9000/files", "The bucket"],
    ["s3://music/a%2fb", "The prefix"],
    ["s3://music/a b", "The prefix"],
    ["s3://music/a//b", "The prefix"],
    ["s3://music?acl=public", 'no parameter "acl"'],
    ["s3://music?region=eu central", "The region"],
    ["s3://music?endpoint=s3.example.com", "The endpoint"],
    ["s3://music?endpoint=https://KEY:SECRET@s3.example.com", "The endpoint"],
    ["s3://music?pathStyle=yes", "The pathStyle"],
  ];
  for (const [url, words] of refused) {
    it(`is refused as ${url}`, () => {
      expect(() => readS3Url(url))
        .to.throw(words)
        .with.property("message")
        .that.does.not.include("SECRET");
    });
  }
});
