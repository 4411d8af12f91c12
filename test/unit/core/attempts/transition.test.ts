import { expect } from "chai";
import { jobAfter, transition } from "../../../../core/attempts/transition.js";
import { aJob, anId, NOON } from "../../../support/builders.js";

const ERROR = { code: "generation_failed", message: "It failed." } as const;

describe("jobAfter", () => {
  const job = aJob({ status: "processing", fence: 3, leaseOwner: anId("prc"), dueAt: NOON });

  it("leaves the lease of a live job as the transition has it", () => {
    const after = jobAfter(job, transition({ job: { crashes: 2 } }), "rpt_1");
    expect(after).to.deep.equal({ ...job, crashes: 2 });
  });

  it("takes an ended job from its worker: nothing is reported under the old fence any more", () => {
    const after = jobAfter(job, transition({ ending: { status: "failed", error: ERROR } }), "rpt_1");
    const end = { status: "failed", phase: "ended", endedBy: "rpt_1" } as const;
    expect(after).to.deep.equal({ ...job, ...end, fence: 4, leaseOwner: null, dueAt: null });
  });
});
