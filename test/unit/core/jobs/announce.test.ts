import { expect } from "chai";
import { announced } from "../../../../core/jobs/announce.js";
import { anId } from "../../../support/builders.js";

describe("What workers hear of jobs that became due together", () => {
  const of = (providerId: string) => ({ jobId: anId("job"), providerId });

  it("is one notification for a job, and one for every eight of a provider", () => {
    const first = of("synth");
    expect(announced([])).to.deep.equal([]);
    expect(announced([first])).to.deep.equal([first]);
    for (const [count, notifications] of [
      [8, 1],
      [9, 2],
      [17, 3],
    ] as const)
      expect(announced(Array.from({ length: count }, () => of("synth")))).to.have.length(notifications);
  });

  it("names a job of each provider", () => {
    const jobs = [...Array.from({ length: 9 }, () => of("synth")), of("other")];
    expect(announced(jobs).map(({ providerId }) => providerId)).to.deep.equal(["synth", "synth", "other"]);
  });
});
