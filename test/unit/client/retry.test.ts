import { expect } from "chai";
import { isRepeatable, retryAfter, retryDelay } from "../../../adapters/client/retry.js";

const NOW = Date.parse("2026-11-25T08:00:00.000Z");
const reply = (status: number, headers: Record<string, string> = {}) => ({ status, headers: new Headers(headers) });
const delay = (failure: Parameters<typeof retryDelay>[0], tried = 0, random = 1) =>
  retryDelay(failure, tried, random, NOW);

describe("A request of the client", () => {
  it("is sent again where its method or its key makes that safe", () => {
    const isSafe = (method: string, headers: Record<string, string> = {}) =>
      isRepeatable({ method, headers: new Headers(headers) });
    expect(["GET", "HEAD", "PUT", "DELETE"].map((method) => isSafe(method))).to.deep.equal([true, true, true, true]);
    expect(["POST", "PATCH"].map((method) => isSafe(method))).to.deep.equal([false, false]);
    expect(isSafe("POST", { "Idempotency-Key": "k" })).to.equal(true);
  });

  it("is sent again as late as Retry-After says, in seconds or by a date", () => {
    for (const status of [429, 503]) {
      expect(delay(reply(status, { "Retry-After": "7" }))).to.equal(7_000);
      expect(delay(reply(status, { "Retry-After": "Wed, 25 Nov 2026 08:00:09 GMT" }))).to.equal(9_000);
    }
    expect(retryAfter("Wednesday, 25-Nov-26 08:00:03 GMT", NOW)).to.equal(3_000);
    expect(retryAfter("Wed, 25 Nov 2026 07:00:00 GMT", NOW)).to.equal(0);
    for (const text of ["", "-1", "1.5", "soon", "7 s", null]) expect(retryAfter(text, NOW), `${text}`).to.equal(null);
  });

  it("is otherwise sent again ever later, up to a bound, spread by chance", () => {
    const waits = [0, 1, 2, 3, 4, 5].map((tried) => delay(null, tried));
    expect(waits).to.deep.equal([500, 1_000, 2_000, 4_000, 8_000, 8_000]);
    expect(delay(null, 0, 0)).to.equal(250);
    for (const status of [429, 502, 503, 504]) expect(delay(reply(status)), `${status}`).to.equal(500);
  });

  it("is not sent again where the response would be the same", () => {
    for (const status of [400, 401, 402, 403, 404, 409, 413, 415, 500]) expect(delay(reply(status))).to.equal(null);
    expect(delay(reply(502, { "Idempotent-Replayed": "true" }))).to.equal(null);
  });
});
