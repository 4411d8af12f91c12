import { expect } from "chai";
import { confirmPollMs, crashDelayMs, pollDelayMs, suspectedDelayMs } from "../../../../core/attempts/policy.js";

describe("The wait after an unexpected error", () => {
  it("grows fourfold, up to a minute", () => {
    expect([0, 1, 2, 3, 100].map(crashDelayMs)).to.deep.equal([5_000, 20_000, 60_000, 60_000, 60_000]);
  });
});

describe("The wait after one lost worker too many", () => {
  it("is doubled by each further one, from one minute up to ten", () => {
    const minutes = [4, 5, 6, 7, 8, 100].map((crashes) => suspectedDelayMs(crashes) / 60_000);
    expect(minutes).to.deep.equal([1, 2, 4, 8, 10, 10]);
  });
});

describe("The wait before a poll", () => {
  it("is what the plugin reports, in whole milliseconds", () => {
    expect([50, 1_000.4, 3_600_000].map(pollDelayMs)).to.deep.equal([50, 1_000, 3_600_000]);
  });

  it("is at least 50 ms and at most a day", () => {
    expect([0, -5, 1e300].map(pollDelayMs)).to.deep.equal([50, 50, 24 * 3_600_000]);
  });

  it("is two seconds where the plugin reports no number", () => {
    expect([Number.NaN, Infinity, -Infinity].map(pollDelayMs)).to.deep.equal([2_000, 2_000, 2_000]);
  });
});

describe("The wait between polls that confirm a final word", () => {
  it("is ten seconds, or a sixth of a short time of confirmation", () => {
    const waits = [0, 6_000, 60_000, 600_000].map((confirmMs) => confirmPollMs({ confirmMs }));
    expect(waits).to.deep.equal([0, 1_000, 10_000, 10_000]);
  });
});
