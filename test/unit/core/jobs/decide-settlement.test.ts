import { expect } from "chai";
import fc from "fast-check";
import { AssertionError } from "../../../../core/assert.js";
import type { Balance, LedgerEntry } from "../../../../core/credits/balance.js";
import type { AccountId, JobId } from "../../../../core/ids.js";
import { decideAcceptance } from "../../../../core/jobs/decide-acceptance.js";
import { decideSettlement, type Ending, type SettlementDecision } from "../../../../core/jobs/decide-settlement.js";
import { type Job, isFinal } from "../../../../core/jobs/job.js";
import { aBalance, aJob, anId, NOON } from "../../../support/builders.js";
import { anAcceptCommand, anEnding, FAILED, stateOf, sumOfEntries } from "./commands.js";

const NOW = NOON + 60_000;

function aRunningJob(overrides: Partial<Job> = {}): Job {
  return aJob({
    status: "processing",
    phase: "rendering",
    fence: 3,
    attempt: 1,
    leaseOwner: anId("prc"),
    reserved: { monthly: 4, pack: 1 },
    ...overrides,
  });
}

/** The account of these jobs, as it is while they run. */
function balanceOf(...jobs: readonly Job[]): Balance {
  return aBalance({
    accountId: jobs[0]?.accountId ?? anId("acct"),
    reservedMonthly: jobs.reduce((sum, { reserved }) => sum + reserved.monthly, 0),
    reservedPack: jobs.reduce((sum, { reserved }) => sum + reserved.pack, 0),
    runningJobs: jobs.length,
    ledgerSeq: jobs.length,
  });
}

function decide(endings: readonly Ending[], jobs: readonly Job[], balances: readonly Balance[]): SettlementDecision {
  return decideSettlement(
    endings,
    new Map(jobs.map((job) => [job.id, job])),
    new Map(balances.map((balance) => [balance.accountId, balance])),
    NOW,
  );
}

describe("decideSettlement", () => {
  it("completes a job: final status, charge, and the report that ended it", () => {
    const job = aRunningJob();
    const balance = balanceOf(job);
    const decision = decide([anEnding(job)], [job], [balance]);

    const changes = {
      status: "completed",
      phase: "ended",
      fence: 4,
      leaseOwner: null,
      dueAt: null,
      error: null,
      creditsCharged: 5,
      completedAt: NOW,
      endedBy: "rpt_1",
    };
    expect(decision.ended).to.deep.equal([{ ...job, ...changes }]);
    expect(decision.updates).to.deep.equal([{ id: job.id, fence: 3, changes }]);
    const after = { ...balance, reservedMonthly: 0, reservedPack: 0, spent: 5, runningJobs: 0, ledgerSeq: 2 };
    expect(decision.movements[0]?.after).to.deep.equal(after);
    expect(decision.movements[0]?.entries.map(({ kind, jobId }) => ({ kind, jobId }))).to.deep.equal([
      { kind: "charge", jobId: job.id },
    ]);
  });

  it("fails a job: full refund into the buckets it came from, and the reason", () => {
    const job = aRunningJob();
    const decision = decide([anEnding(job, { outcome: FAILED })], [job], [balanceOf(job)]);
    expect(decision.ended[0]).to.deep.include({ status: "failed", creditsCharged: 0, completedAt: NOW, dueAt: null });
    expect(decision.ended[0]?.error).to.deep.equal({ code: "generation_failed", message: "It failed." });
    expect(decision.movements[0]?.after).to.include({
      monthly: 4,
      pack: 1,
      reservedMonthly: 0,
      reservedPack: 0,
      spent: 0,
      runningJobs: 0,
    });
  });

  it("fails a job that waits, as a deadline or an operator does", () => {
    const job = aJob({ reserved: { monthly: 5, pack: 0 } });
    const [ended] = decide([anEnding(job, { outcome: FAILED })], [job], [balanceOf(job)]).ended;
    expect(ended).to.include({ status: "failed", fence: 1 });
  });

  it("never completes a job that waits", () => {
    const job = aJob();
    expect(() => decide([anEnding(job)], [job], [balanceOf(job)])).to.throw(AssertionError);
  });

  it("completes one that went on in the same transaction, and returns what changed of it before", () => {
    const job = aJob({ status: "queued", fence: 3 });
    const earlier = { status: "processing", attempt: 2, servedModelId: "synth/v2" } as const;
    const { ended, updates } = decide([{ ...anEnding(job), changes: earlier }], [job], [balanceOf(job)]);
    const after = { status: "completed", attempt: 2, servedModelId: "synth/v2", fence: 4 } as const;
    expect(ended[0]).to.include(after);
    expect(updates[0]).to.deep.include({ id: job.id, fence: 3 });
    expect(updates[0]?.changes).to.include(after);
  });

  it("never ends a job twice, nor one that does not exist", () => {
    const job = aRunningJob();
    // The reservation of the account's other job would pay for a second end.
    const balances = [balanceOf(job, aRunningJob({ accountId: job.accountId }))];
    expect(() => decide([anEnding(job), anEnding(job, { outcome: FAILED })], [job], balances)).to.throw(
      AssertionError,
      "a batch ends a job once",
    );
    expect(() => decide([anEnding(job)], [], [balanceOf(job)])).to.throw(AssertionError);
    for (const status of ["completed", "failed"] as const) {
      const ended = aRunningJob({ status, phase: "ended", leaseOwner: null });
      expect(() => decide([anEnding(ended)], [ended], [balanceOf(ended)])).to.throw(
        AssertionError,
        "a job ends once, while it is alive",
      );
    }
  });

  it("ends no job of an account without a balance", () => {
    const job = aRunningJob();
    expect(() => decide([anEnding(job)], [job], [])).to.throw(AssertionError, "together with its balance");
  });

  it("settles many jobs of an account in one movement", () => {
    const accountId = anId("acct");
    const jobs = [aRunningJob({ accountId }), aRunningJob({ accountId }), aRunningJob({ accountId })];
    const endings = jobs.map((job, index) => anEnding(job, index === 1 ? { outcome: FAILED } : {}));
    const { movements } = decide(endings, jobs, [balanceOf(...jobs)]);
    expect(movements).to.have.length(1);
    expect(movements[0]?.entries.map(({ kind, seq }) => [kind, seq])).to.deep.equal([
      ["charge", 4],
      ["refund", 5],
      ["charge", 6],
    ]);
    expect(movements[0]?.after).to.include({
      spent: 10,
      monthly: 4,
      pack: 1,
      runningJobs: 0,
      reservedMonthly: 0,
      reservedPack: 0,
    });
  });
});

describe("Jobs from acceptance to their end", () => {
  const accounts = [anId("acct"), anId("acct")] as const;
  type Step =
    | { readonly kind: "accept"; readonly account: AccountId; readonly costs: readonly number[] }
    | { readonly kind: "settle"; readonly reports: readonly { readonly which: number; readonly completes: boolean }[] };
  const anyStep: fc.Arbitrary<Step> = fc.oneof(
    fc.record({
      kind: fc.constant("accept" as const),
      account: fc.constantFrom(...accounts),
      costs: fc.array(fc.nat({ max: 9 }), { maxLength: 5 }),
    }),
    fc.record({
      kind: fc.constant("settle" as const),
      reports: fc.array(fc.record({ which: fc.nat(), completes: fc.boolean() }), { maxLength: 6 }),
    }),
  );

  it("keep every invariant of the ledger", () => {
    fc.assert(
      fc.property(
        fc.array(anyStep, { maxLength: 15 }),
        fc.nat({ max: 60 }),
        fc.nat({ max: 40 }),
        (steps, monthly, pack) => {
          const jobs = new Map<JobId, Job>();
          const before = accounts.map((accountId) => aBalance({ accountId, monthly, pack }));
          const balances = new Map(before.map((balance) => [balance.accountId, balance]));
          const entries: LedgerEntry[] = [];
          for (const step of steps) {
            const movements =
              step.kind === "accept" ? accept(step, jobs, balances) : settle(step.reports, jobs, balances);
            for (const { after, entries: added } of movements) {
              balances.set(after.accountId, after);
              entries.push(...added);
            }
            for (const account of before) check(account, jobs, balances, entries);
          }
        },
      ),
    );
  });

  function accept(
    step: Extract<Step, { kind: "accept" }>,
    jobs: Map<JobId, Job>,
    balances: Map<AccountId, Balance>,
  ): SettlementDecision["movements"] {
    const commands = step.costs.map((cost) => anAcceptCommand(step.account, { cost, concurrencyLimit: 6 }));
    const decision = decideAcceptance(commands, stateOf([...balances.values()]));
    for (const job of decision.jobs) jobs.set(job.id, { ...job, status: "processing", phase: "submitting", fence: 1 });
    return decision.movements;
  }

  function settle(
    reports: Extract<Step, { kind: "settle" }>["reports"],
    jobs: Map<JobId, Job>,
    balances: Map<AccountId, Balance>,
  ): SettlementDecision["movements"] {
    const alive = [...jobs.values()].filter(({ status }) => !isFinal(status));
    const endings = new Map<JobId, Ending>();
    for (const { which, completes } of reports) {
      const job = alive[which % alive.length];
      if (job !== undefined && !endings.has(job.id))
        endings.set(job.id, anEnding(job, completes ? {} : { outcome: FAILED }));
    }
    const decision = decideSettlement([...endings.values()], jobs, balances, NOW);
    for (const { id, fence, changes } of decision.updates) {
      const job = jobs.get(id) as Job;
      expect(job.fence).to.equal(fence);
      jobs.set(id, { ...job, ...changes });
    }
    return decision.movements;
  }

  function check(
    start: Balance,
    jobs: ReadonlyMap<JobId, Job>,
    balances: ReadonlyMap<AccountId, Balance>,
    all: readonly LedgerEntry[],
  ): void {
    const { accountId } = start;
    const balance = balances.get(accountId) as Balance;
    const entries = all.filter((entry) => entry.accountId === accountId);
    const own = [...jobs.values()].filter((job) => job.accountId === accountId);
    for (const amount of ["monthly", "pack", "reservedMonthly", "reservedPack", "spent"] as const) {
      expect(balance[amount], amount).to.equal(start[amount] + sumOfEntries(entries, amount));
      expect(balance[amount], amount).to.be.at.least(0);
    }
    const alive = own.filter(({ status }) => !isFinal(status));
    expect(balance.runningJobs).to.equal(alive.length);
    expect(balance.reservedMonthly).to.equal(alive.reduce((sum, { reserved }) => sum + reserved.monthly, 0));
    expect(balance.reservedPack).to.equal(alive.reduce((sum, { reserved }) => sum + reserved.pack, 0));
    expect(balance.spent).to.equal(
      own.filter(({ status }) => status === "completed").reduce((sum, job) => sum + job.creditsCharged, 0),
    );
    for (const job of own) {
      const kinds = entries.filter(({ jobId }) => jobId === job.id).map(({ kind }) => kind);
      const end = { completed: ["charge"], failed: ["refund"], queued: [], processing: [] }[job.status];
      expect(kinds).to.deep.equal(["reserve", ...end]);
    }
  }
});
