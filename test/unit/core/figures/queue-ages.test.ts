import { expect } from "chai";
import { type QueueAge, queueAgesBySteps } from "../../../../core/figures/queue-ages.js";

const MINUTE_MS = 60_000;
/** A full minute. */
const SIX = Date.UTC(2026, 10, 21, 6);
const STEPS = { from: SIX, stepMs: MINUTE_MS, count: 6 };

function age(minutes: number, ageMinutes: number): QueueAge {
  return { at: SIX + minutes * MINUTE_MS, ms: ageMinutes * MINUTE_MS };
}

function inMinutes(ages: readonly QueueAge[]): (number | null)[] {
  return queueAgesBySteps(ages, STEPS).map((ms) => (ms === null ? null : ms / MINUTE_MS));
}

describe("queueAgesBySteps", () => {
  it("has the highest age of each step, and nothing where nothing is known", () => {
    expect(inMinutes([])).to.deep.equal([null, null, null, null, null, null]);
    expect(inMinutes([age(1.2, 0), age(2.25, 0), age(2.5, 0.25), age(4, 0)])).to.deep.equal([
      null,
      0,
      0.25,
      null,
      0,
      null,
    ]);
  });

  it("knows that a job that is due was due before as well, since it became so", () => {
    expect(inMinutes([age(5.5, 4)])).to.deep.equal([null, 0.5, 1.5, 2.5, 3.5, 4]);
    expect(inMinutes([age(20, 19.5)])).to.deep.equal([0.5, 1.5, 2.5, 3.5, 4.5, 5.5]);
  });

  it("takes the highest where several say something of a step", () => {
    expect(inMinutes([age(-1, 3), age(2.5, 0), age(4.5, 1)])).to.deep.equal([null, null, 0, 0.5, 1, null]);
  });
});
