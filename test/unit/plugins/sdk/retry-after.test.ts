import { expect } from "chai";
import { retryAfterMs } from "../../../../plugins/sdk/index.js";

describe("Retry-After", () => {
  const waits: readonly (readonly [value: string | null, date: string | null, ms: number | undefined])[] = [
    [null, null, undefined],
    ["", null, undefined],
    ["0", null, 0],
    [" 7 ", null, 7_000],
    ["soon", null, undefined],
    ["-1", null, undefined],
    ["Sat, 21 Nov 2026 06:30:10 GMT", "Sat, 21 Nov 2026 06:30:00 GMT", 10_000],
    ["Sat, 21 Nov 2026 06:29:00 GMT", "Sat, 21 Nov 2026 06:30:00 GMT", 0],
    ["Sat, 21 Nov 2026 06:30:10 GMT", null, undefined],
  ];
  for (const [value, date, ms] of waits) {
    const at = date === null ? "" : ` at ${date}`;
    it(`${JSON.stringify(value)}${at} is ${ms === undefined ? "no known wait" : `${ms} ms`}`, () => {
      const headers = new Headers({
        ...(value === null ? {} : { "retry-after": value }),
        ...(date === null ? {} : { date }),
      });
      expect(retryAfterMs(headers)).to.equal(ms);
    });
  }
});
