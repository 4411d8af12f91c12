import { expect } from "chai";
import { trendOf, tableOf, type Tolerance } from "../../support/soak/trend.js";
import { SeededRandom } from "../../support/chaos/seeded-random.js";

const MINUTES = 60;
const TOLERANCE: Tolerance = { share: 0.05, amount: 2 };

/** One figure a minute. */
function trendWith(valueAt: (minute: number) => number, minutes = MINUTES, tolerance = TOLERANCE) {
  const samples = Array.from({ length: minutes }, (_, index) => [index + 1, valueAt(index + 1)] as const);
  return trendOf({ name: "heap", unit: "MB", samples, tolerance });
}

describe("The trend of a figure of a soak run", () => {
  const random = new SeededRandom(1);
  const noise = (amount: number): number => random.between(-amount, amount);

  it("finds a figure that rises, and by how much an hour", () => {
    const { isFlat, slopePerHour } = trendWith((minute) => 100 + minute / 2);
    expect(isFlat).to.equal(false);
    expect(slopePerHour).to.be.closeTo(30, 0.001);
  });

  it("finds one that rises within noise", () => {
    expect(trendWith((minute) => 100 + minute / 2 + noise(10)).isFlat).to.equal(false);
  });

  it("finds one that rises in steps", () => {
    expect(trendWith((minute) => 100 + 8 * Math.floor(minute / 15)).isFlat).to.equal(false);
  });

  it("accepts a flat one with noise, and single peaks", () => {
    const { isFlat, slopePerHour } = trendWith((minute) => (minute % 17 === 0 ? 300 : 100 + noise(10)));
    expect(isFlat).to.equal(true);
    expect(Math.abs(slopePerHour)).to.be.below(40);
  });

  it("accepts one that swings like the teeth of a saw", () => {
    expect(trendWith((minute) => 100 + (minute % 7)).isFlat).to.equal(true);
  });

  it("accepts one that rises only at the beginning, or falls", () => {
    expect(trendWith((minute) => Math.min(100, minute * 10)).isFlat).to.equal(true);
    expect(trendWith((minute) => 200 - minute).isFlat).to.equal(true);
  });

  it("allows a share of the beginning and an amount, and not more", () => {
    const rising = (by: number) => trendWith((minute) => (minute > 40 ? 100 + by : 100));
    expect(rising(7).isFlat).to.equal(true);
    expect(rising(7.01).isFlat).to.equal(false);
  });

  it("says so when there are too few samples", () => {
    expect(() => trendWith(() => 1, 6)).to.throw("6 at least are needed");
  });

  it("shows a line for each figure", () => {
    const flat = trendWith(() => 123.4);
    const lines = tableOf([flat, { ...flat, isFlat: false }]).split("\n");
    expect(lines).to.have.length(4);
    expect(lines[2]).to.equal("| heap, MB | 123 | 123 | 132 | 0 | yes |");
    expect(lines[3]).to.include("**no**");
  });
});
