import { expect } from "chai";
import { parseHeaders } from "../../../config/settings/tracing.js";

describe("The headers for a collector of traces", () => {
  it("are pairs, with values that are percent-encoded", () => {
    expect(parseHeaders("authorization=Bearer%20x%3D%2C, x-tenant = a=b,x-empty=")).to.deep.equal({
      authorization: "Bearer x=,",
      "x-tenant": "a=b",
      "x-empty": "",
    });
  });

  for (const text of ["", "authorization", "=x", "a=b,", "a b=c", "a=\r\nb: c", "a=%", "a=%ff", "ä=b", "a=é"]) {
    it(`are none: ${JSON.stringify(text)}`, () => {
      expect(parseHeaders(text)).to.equal(null);
    });
  }

  it("cannot begin another header", () => {
    expect(parseHeaders("a=x%0d%0ab: y")).to.equal(null);
    expect(parseHeaders("a=x%00")).to.equal(null);
  });
});
