import { expect } from "chai";
import { ATTEMPT_MOVES, isBought, isOpen, phaseOf } from "../../../../core/attempts/attempt-states.js";
import type { AttemptState } from "../../../../core/jobs/job.js";

const STATES = Object.keys(ATTEMPT_MOVES) as AttemptState[];

describe("The states of an attempt", () => {
  it("are open until it is closed, and bought from the acceptance on", () => {
    const open = ["intended", "unknown", "accepted", "finished", "stored"];
    expect(STATES.filter((state) => isOpen({ state }))).to.deep.equal(open);
    expect(STATES.filter((state) => isBought({ state }))).to.deep.equal(["accepted", "finished", "stored"]);
  });

  it("lead to settled from everywhere, and nowhere from there", () => {
    expect(STATES.filter((state) => !ATTEMPT_MOVES[state].includes("settled"))).to.deep.equal(["settled"]);
    expect(ATTEMPT_MOVES.settled).to.deep.equal([]);
  });

  it("never return to intended, nor to unknown once word of it came", () => {
    expect(STATES.filter((state) => ATTEMPT_MOVES[state].includes("intended"))).to.deep.equal([]);
    expect(STATES.filter((state) => ATTEMPT_MOVES[state].includes("unknown"))).to.deep.equal(["intended"]);
  });
});

describe("The phase of a live job", () => {
  const phases: readonly (readonly [AttemptState[], ReturnType<typeof phaseOf>])[] = [
    [[], "waiting"],
    [["refused", "failed", "abandoned"], "waiting"],
    [["intended"], "submitting"],
    [["refused", "unknown"], "submitting"],
    [["accepted"], "rendering"],
    [["finished"], "rendering"],
    [["stored"], "rendering"],
    [["unknown", "accepted", "intended"], "rendering"],
  ];
  for (const [states, phase] of phases) {
    it(`is ${phase} with ${states.length === 0 ? "no attempt" : states.join(", ")}`, () => {
      expect(phaseOf(states.map((state) => ({ state })))).to.equal(phase);
    });
  }
});
