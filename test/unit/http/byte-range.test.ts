import { expect } from "chai";
import fc from "fast-check";
import { requestedRange } from "../../../adapters/http/pages/byte-range.js";

describe("requestedRange", () => {
  it("stays inside the file, whatever the header", () => {
    const position = fc.oneof(fc.nat(2_000).map(String), fc.constant(""), fc.constant("99999999999999999999"));
    fc.assert(
      fc.property(position, position, fc.nat(1_000), (first, last, sizeBytes) => {
        const range = requestedRange(`bytes=${first}-${last}`, sizeBytes);
        if (typeof range === "string") return;
        expect(range.start).to.be.within(0, range.end);
        expect(range.end).to.be.below(sizeBytes);
      }),
    );
  });

  it("is the whole file without a header, and for what it does not understand", () => {
    for (const header of [undefined, "", "bytes", "bytes=", "bytes=-", "bytes=1-0", "bytes=0-1,2-3", "lines=1-2"]) {
      expect(requestedRange(header, 10), header).to.equal("whole");
    }
  });

  it("cannot be satisfied past the end, nor by nothing, nor of an empty file", () => {
    for (const [header, sizeBytes] of [
      ["bytes=10-", 10],
      ["bytes=-0", 10],
      ["bytes=0-", 0],
      ["bytes=-5", 0],
    ] as const) {
      expect(requestedRange(header, sizeBytes), header).to.equal("unsatisfiable");
    }
  });
});
