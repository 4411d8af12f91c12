import { expect } from "chai";
import type { ExecutionPolicy } from "../../../../core/attempts/policy.js";
import { callbacksOf, openAttempt, type Situation } from "../../../../core/attempts/situation.js";
import type { JobAttempt } from "../../../../core/jobs/job.js";
import { anAttempt } from "../../../support/builders.js";
import { isRunning } from "./decision-cases.js";
import { ATTEMPTS, decided, liveJob, POLICY } from "./decision-table.js";

const EXPECTED = { amount: 0.1, unit: "USD" };
const PRICED: ExecutionPolicy = { ...POLICY, expectedCost: EXPECTED };
const WITH_CALLBACKS: ExecutionPolicy = {
  ...PRICED,
  capabilities: { ...PRICED.capabilities, callbacks: "signed" },
};
describe("What is decided on", () => {
  it("is the open attempt that is closest to completion, the latest of equal ones", () => {
    const states = ["intended", "unknown", "accepted", "finished", "stored"] as const;
    const open = (...has: readonly JobAttempt["state"][]): number | undefined =>
      openAttempt({ attempts: has.map((state, index) => anAttempt({ state, number: index + 1 })) })?.number;
    for (const [index, state] of states.entries()) {
      for (const less of states.slice(0, index)) {
        expect(open(less, state, less), `${state} and ${less}`).to.equal(2);
        expect(open(state, less), `${state} before ${less}`).to.equal(1);
      }
      expect(open(state, state)).to.equal(2);
      expect(open(state, "refused", "failed", "abandoned", "settled")).to.equal(1);
    }
    expect(open("refused", "settled")).to.equal(undefined);
  });

  it("notes which callbacks were read, where the provider sends any", () => {
    const read = (policy: ExecutionPolicy): unknown =>
      decided(
        liveJob([ATTEMPTS.accepted], "reporter"),
        "reporter",
        { ...isRunning(1), callbacksRead: ["cbk_1"] } as never,
        policy,
      ).callbacksRead;
    expect(read(WITH_CALLBACKS)).to.deep.equal(["cbk_1"]);
    expect(read(PRICED)).to.equal(null);
    const hints = { ...PRICED, capabilities: { ...PRICED.capabilities, callbacks: "hints" } } as const;
    expect(read(hints)).to.deep.equal(["cbk_1"]);
    const { callbacks: _callbacks, ...capabilities } = PRICED.capabilities;
    const none = (policy: ExecutionPolicy): unknown => callbacksOf({ policy } as Situation);
    expect(none({ ...PRICED, capabilities })).to.equal(null);
    expect(none(hints)).to.deep.equal([]);
  });
});
