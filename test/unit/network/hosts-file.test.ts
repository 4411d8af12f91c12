import { expect } from "chai";
import fc from "fast-check";
import { parseHosts } from "../../../adapters/network/hosts-file.js";

describe("parseHosts", () => {
  it("reads names and aliases in any case, with comments, tabs and the line ends of Windows", () => {
    const hosts = parseHosts(
      "127.0.0.1\tlocalhost\r\n\r\n# 10.0.0.9 gone\n  10.0.0.1   Receiver receiver.corp. # the internal " +
        "one\n10.0.0.2 other#10.0.0.3 x\n",
    );
    expect([...hosts]).to.deep.equal([
      ["localhost", ["127.0.0.1"]],
      ["receiver", ["10.0.0.1"]],
      ["receiver.corp", ["10.0.0.1"]],
      ["other", ["10.0.0.2"]],
    ]);
  });

  it("gathers the addresses of a name from several lines, each once, in their order", () => {
    expect(parseHosts("::1 a\n10.0.0.2 a b\n10.0.0.2 a\n10.0.0.1 a").get("a")).to.deep.equal([
      "::1",
      "10.0.0.2",
      "10.0.0.1",
    ]);
  });

  it("passes over lines without an address", () => {
    expect([...parseHosts("receiver 10.0.0.1\n10.0.0.256 a\nfe80::1%lo0 b\n0x7f.1 c\n10.0.0.1\n")]).to.deep.equal([]);
  });

  it("reads any text", () => {
    fc.assert(fc.property(fc.string(), (text) => parseHosts(text).size >= 0));
  });
});
