import { expect } from "chai";
import { aHash, aJob, NOON } from "../../support/builders.js";
import { ended, jobStoreKit, type OpenedJobs } from "./kit.js";

export function jobCounts(opened: OpenedJobs): void {
  const { add } = jobStoreKit(opened);

  it("counts unfinished jobs by provider", async () => {
    const [one, other] = [aHash().slice(0, 8), aHash().slice(0, 8)];
    const ended = { status: "failed", phase: "ended", dueAt: null } as const;
    await add(
      aJob({ providerId: one }),
      aJob({ providerId: one, status: "processing", phase: "rendering" }),
      aJob({ providerId: one, ...ended }),
    );
    await add(aJob({ providerId: other, ...ended }));
    const alive = await opened().jobs.countAlive();
    expect([alive.get(one), alive.get(other)]).to.deep.equal([2, undefined]);
  });

  it("counts waiting and running jobs of a provider", async () => {
    const [one, other] = [aHash().slice(0, 8), aHash().slice(0, 8)];
    const processing = { providerId: one, status: "processing" } as const;
    await add(
      aJob({ providerId: one }),
      aJob({ providerId: one }),
      aJob({ providerId: other }),
      aJob({ providerId: one, ...ended("failed") }),
    );
    await add(aJob({ ...processing, phase: "rendering" }), aJob({ ...processing, phase: "submitting" }));
    expect(await opened().jobs.countWork(one, 100)).to.deep.equal({ waiting: 2, submitting: 1, rendering: 1 });
    expect(await opened().jobs.countWork(one, 1)).to.deep.equal({ waiting: 1, submitting: 1, rendering: 1 });
    const before = (dueAt: number, countMax = 100): Promise<number> =>
      opened().jobs.countWaitingBefore(one, dueAt, countMax);
    const due = (await opened().jobs.nextDueAt(one)).waiting as number;
    expect([await before(due), await before(due + 1), await before(due + 1, 1)]).to.deep.equal([0, 2, 1]);
    expect(await opened().jobs.countWork(aHash().slice(0, 8), 100)).to.deep.equal({
      waiting: 0,
      submitting: 0,
      rendering: 0,
    });
  });

  it("finds since when a provider's waiting jobs are due", async () => {
    const providerId = aHash().slice(0, 8);
    expect(await opened().jobs.waitingSince(providerId)).to.equal(null);
    await add(
      aJob({ providerId, dueAt: NOON + 2_000 }),
      aJob({ providerId, dueAt: NOON + 1_000 }),
      aJob({ providerId, status: "processing", phase: "rendering", dueAt: NOON }),
      aJob({ dueAt: NOON - 1 }),
    );
    expect(await opened().jobs.waitingSince(providerId)).to.equal(NOON + 1_000);
  });
}
