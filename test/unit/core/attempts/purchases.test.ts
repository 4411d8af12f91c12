import { expect } from "chai";
import { CountPurchases, purchaseOf } from "../../../../core/attempts/purchases.js";
import type { JobAttempt } from "../../../../core/jobs/job.js";
import type { CountedAttempt } from "../../../../core/ports/metrics.js";
import { anAttempt, NOON } from "../../../support/builders.js";

const INTENDED = anAttempt({ providerId: "fal" });
const ACCEPTED = { ...INTENDED, state: "accepted", acceptedAt: NOON } as const;
const SETTLED = { ...ACCEPTED, state: "settled", endedAt: NOON + 1 } as const;
const OVERDUE = { ...ACCEPTED, state: "abandoned", endedAt: NOON + 1, loss: "deadline" } as const;
const SAME_WORK = { ...ACCEPTED, state: "abandoned", endedAt: NOON + 1, billable: "no" } as const;

describe("purchaseOf", () => {
  const given: readonly (readonly [what: string, attempt: Partial<JobAttempt>, purchase: string])[] = [
    ["an intent", {}, "none"],
    ["a call without a known outcome", { state: "unknown", outcome: "outcome_unknown" }, "none"],
    ["a refused call", { state: "refused", billable: "no" }, "none"],
    ["a refusal whose bill is not known", { state: "refused", loss: "provider_failed" }, "none"],
    ["an attempt that another one repeated", SAME_WORK, "none"],
    ["an accepted attempt", ACCEPTED, "under_way"],
    ["stored files", { ...ACCEPTED, state: "stored" }, "under_way"],
    ["a settled attempt", SETTLED, "delivered"],
    ["an accepted attempt past its deadline", OVERDUE, "wasted"],
    ["lost files", { ...ACCEPTED, state: "failed", loss: "files_lost" }, "wasted"],
    ["a call of which nothing was heard", { state: "abandoned", loss: "unknown" }, "perhaps"],
    ["a call of a job that was cancelled meanwhile", { state: "abandoned", loss: "cancelled" }, "perhaps"],
    ["a failed call whose bill is not known", { state: "failed", loss: "provider_failed" }, "perhaps"],
  ];
  for (const [what, attempt, purchase] of given) {
    it(`is ${purchase} for ${what}`, () => expect(purchaseOf(anAttempt(attempt))).to.equal(purchase));
  }
});

describe("CountPurchases", () => {
  let counted: CountedAttempt[];
  let count: CountPurchases;
  beforeEach(() => {
    counted = [];
    count = new CountPurchases({ countAttempt: (attempt) => counted.push(attempt) });
  });

  const BOUGHT = { became: "bought", provider: "fal" };

  function commit(before: readonly JobAttempt[], after: readonly JobAttempt[], report = {}): CountedAttempt[] {
    count.note(report, before, after);
    count.committed([report]);
    return counted.splice(0);
  }

  it("counts nothing before the commit, and nothing twice after it", () => {
    const report = {};
    count.note(report, [INTENDED], [ACCEPTED]);
    expect(counted).to.deep.equal([]);
    count.committed([report]);
    count.committed([report]);
    expect(counted).to.deep.equal([BOUGHT]);
  });

  it("counts each change of an attempt", () => {
    expect(commit([], [INTENDED])).to.deep.equal([]);
    expect(commit([INTENDED], [ACCEPTED])).to.deep.equal([BOUGHT]);
    expect(commit([ACCEPTED], [{ ...ACCEPTED, state: "finished" }])).to.deep.equal([]);
    expect(commit([ACCEPTED], [SETTLED])).to.deep.equal([{ became: "delivered", provider: "fal" }]);
    expect(commit([ACCEPTED], [OVERDUE])).to.deep.equal([{ became: "wasted", provider: "fal", reason: "deadline" }]);
    expect(commit([INTENDED], [SETTLED])).to.deep.equal([BOUGHT, { became: "delivered", provider: "fal" }]);
  });

  it("counts what was given up once the provider turns out to have accepted it", () => {
    const given = { ...INTENDED, state: "abandoned", loss: "unknown", endedAt: NOON } as const;
    expect(commit([INTENDED], [given])).to.deep.equal([]);
    const late = { ...OVERDUE, loss: "late" } as const;
    expect(commit([given], [late])).to.deep.equal([BOUGHT, { became: "wasted", provider: "fal", reason: "late" }]);
    expect(commit([late], [late])).to.deep.equal([]);
  });

  it("counts one purchase for an attempt and its repetition", () => {
    const [second, delivered] = [
      { ...INTENDED, number: 2 },
      { became: "delivered", provider: "fal" },
    ];
    expect(commit([ACCEPTED, second], [SAME_WORK, { ...ACCEPTED, number: 2 }])).to.deep.equal([]);
    expect(commit([ACCEPTED, second], [SAME_WORK, { ...SETTLED, number: 2 }])).to.deep.equal([delivered]);
  });

  it("counts once what was committed before its reply was lost, and went on meanwhile", () => {
    const report = {};
    count.note(report, [INTENDED], [SETTLED]);
    count.note(report, [SETTLED], [SETTLED]);
    expect(commit([SETTLED], [SETTLED], report)).to.deep.equal([BOUGHT, { became: "delivered", provider: "fal" }]);
    const accepted = {};
    count.note(accepted, [INTENDED], [ACCEPTED]);
    expect(commit([SETTLED], [SETTLED], accepted), "another worker has settled it").to.deep.equal([BOUGHT]);
  });

  it("counts once what was rolled back and decided again, and nothing when another process wrote it", () => {
    const report = {};
    count.note(report, [INTENDED], [ACCEPTED]);
    expect(commit([INTENDED], [{ ...ACCEPTED, acceptedAt: NOON + 5 }], report)).to.deep.equal([BOUGHT]);
    count.note(report, [INTENDED], [ACCEPTED]);
    const theirs = { ...ACCEPTED, acceptedAt: NOON + 5 };
    expect(commit([theirs], [theirs], report)).to.deep.equal([]);
  });
});
