import { expect } from "chai";
import fc from "fast-check";
import { timestamp } from "../../../adapters/http/presenters/time.js";

describe("Times in responses", () => {
  it("are those of ISO 8601, as a Date writes them", () => {
    const max = 8_640_000_000_000_000;
    const edges = [0, 1, 999, 1_000, -1, 86_399_999, 86_400_000, -86_400_000, 253_402_300_800_000, -62_167_219_200_001];
    for (const ms of [...edges, max, -max]) expect(timestamp(ms)).to.equal(new Date(ms).toISOString());
    fc.assert(
      fc.property(fc.oneof(fc.integer({ min: -max, max }), fc.nat(4_102_444_800_000)), (ms) => {
        expect(timestamp(ms)).to.equal(new Date(ms).toISOString());
      }),
    );
    expect(timestamp(1_764_099_999_999.9)).to.equal(new Date(1_764_099_999_999.9).toISOString());
    expect(() => timestamp(Number.NaN)).to.throw(RangeError);
  });
});
