import { expect } from "chai";
import { AssertionError } from "../../../../core/assert.js";
import { assertMove, costOf, isFinal, type JobStatus } from "../../../../core/jobs/job.js";

const STATUSES: readonly JobStatus[] = ["queued", "processing", "completed", "failed"];

describe("A job's status", () => {
  const allowed = new Set([
    "queued processing",
    "queued failed",
    "processing completed",
    "processing failed",
    "processing queued",
  ]);
  for (const from of STATUSES) {
    for (const to of STATUSES) {
      const may = allowed.has(`${from} ${to}`);
      it(`${may ? "moves" : "never moves"} from ${from} to ${to}`, () => {
        const move = (): void => assertMove({ status: from, phase: "waiting" }, to);
        if (may) expect(move).not.to.throw();
        else expect(move).to.throw(AssertionError);
      });
    }
  }

  it("never returns to queued once the provider has accepted", () => {
    expect(() => assertMove({ status: "processing", phase: "rendering" }, "queued")).to.throw(AssertionError);
    expect(() => assertMove({ status: "processing", phase: "submitting" }, "queued")).not.to.throw();
  });

  it("is final when completed or failed", () => {
    expect(STATUSES.filter(isFinal)).to.deep.equal(["completed", "failed"]);
  });
});

describe("costOf", () => {
  it("adds up both buckets", () => {
    expect(costOf({ reserved: { monthly: 3, pack: 4 } })).to.equal(7);
  });
});
