import { expect } from "chai";
import { retryAfterMs } from "../../../adapters/downloads/retry-after.js";

describe("Retry-After of a download", () => {
  const date = "Sat, 21 Nov 2026 06:30:00 GMT";
  for (const [fields, ms] of [
    [{}, undefined],
    [{ "retry-after": "" }, undefined],
    [{ "retry-after": "0" }, 0],
    [{ "retry-after": " 7 " }, 7_000],
    [{ "retry-after": "soon", date }, undefined],
    [{ "retry-after": "-1" }, undefined],
    [{ "retry-after": "Sat, 21 Nov 2026 06:30:10 GMT", date }, 10_000],
    [{ "retry-after": "Sat, 21 Nov 2026 06:29:00 GMT", date }, 0],
    [{ "retry-after": "Sat, 21 Nov 2026 06:30:10 GMT" }, undefined],
  ] as const) {
    it(`is ${ms ?? "unknown"} for ${JSON.stringify(fields)}`, () => {
      expect(retryAfterMs(new Headers(fields))).to.equal(ms);
    });
  }
});
