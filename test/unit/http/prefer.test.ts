import { expect } from "chai";
import fc from "fast-check";
import { preferredWaitSeconds } from "../../../adapters/http/prefer.js";

describe("preferredWaitSeconds", () => {
  const cases: readonly (readonly [header: string | undefined, seconds: number | null])[] = [
    [undefined, null],
    ["", null],
    ["wait=10", 10],
    ["wait=0", 0],
    ["WAIT=10", 10],
    ["wait = 10", 10],
    ['wait="10"', 10],
    ["wait=10; foo=bar", 10],
    ["respond-async, wait=10", 10],
    ["respond-async; foo, wait=10", 10],
    ['a="b, wait=1", wait=10', 10],
    ['a="b\\", wait=1", wait=10', 10],
    ["wait=10, wait=20", 10],
    ["wait=x, wait=20", null],
    ["wait=55", 55],
    ["wait=600", 55],
    ["wait=1e1", null],
    ["wait=-5", null],
    ["wait", null],
    ["wait=", null],
    ["wait=10 seconds", null],
    ["waiting=10", null],
    ["foo; wait=10", null],
    ['a="open, wait=10', null],
  ];
  for (const [header, seconds] of cases) {
    it(`reads ${JSON.stringify(header)} as ${String(seconds)}`, () => {
      expect(preferredWaitSeconds(header, 55)).to.equal(seconds);
    });
  }

  it("reads any header as null or 0 to 55, and soon", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("wait", "=", "9", ",", ";", '"', "\\", " ", "x"), { maxLength: 200 }),
        (parts) => {
          const seconds = preferredWaitSeconds(parts.join(""), 55);
          return seconds === null || (Number.isInteger(seconds) && seconds >= 0 && seconds <= 55);
        },
      ),
    );
  });

  it("is not slowed down by a hostile header", () => {
    for (const part of ['"', "\\", 'a"', " ", "=", '\\"', "wait ", ","]) {
      expect(preferredWaitSeconds(part.repeat(16_000), 55)).to.equal(null);
      expect(preferredWaitSeconds(`wait=${part.repeat(16_000)}x`, 55)).to.equal(null);
    }
  });
});
