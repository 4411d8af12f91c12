import { expect } from "chai";
import fc from "fast-check";
import { AssertionError } from "../../../../core/assert.js";
import type { Balance, LedgerEntry } from "../../../../core/credits/balance.js";
import type { AccountId, JobId } from "../../../../core/ids.js";
import { decideAcceptance } from "../../../../core/jobs/decide-acceptance.js";
import { decideSettlement, type SettleCommand, type SettleDecision } from "../../../../core/jobs/decide-settlement.js";
import { type Job, isFinal } from "../../../../core/jobs/job.js";
import { aBalance, aJob, anId, aTrack, NOON } from "../../../support/builders.js";
import { aSettleCommand, FAILED, anAcceptCommand, stateOf, sumOfEntries } from "./commands.js";

const NOW = NOON + 60_000;

function aRunningJob(overrides: Partial<Job> = {}): Job {
  return aJob({ status: "processing", phase: "rendering", fence: 3, attempt: 1, leaseOwner: anId("prc"), reserved: { monthly: 4, pack: 1 }, ...overrides });
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

function decide(commands: readonly SettleCommand[], jobs: readonly Job[], balances: readonly Balance[]): SettleDecision {
  return decideSettlement(
    commands,
    new Map(jobs.map((job) => [job.id, job])),
    new Map(balances.map((balance) => [balance.accountId, balance])),
    NOW,
  );
}

const NOTHING = { updates: [], movements: [], tracks: [], outputs: [], attempts: [] };

describe("decideSettlement", () => {
  it("completes a job: final status, charge, free slot, tracks and what the attempt brought", () => {
    const job = aRunningJob();
    const balance = balanceOf(job);
    const track = aTrack({ jobId: job.id });
    const attempt = { number: 1, outcome: "completed", message: null, cost: { amount: 7, unit: "credits" }, billable: "yes" } as const;
    const decision = decide([aSettleCommand(job, { outcome: { status: "completed", tracks: [track] }, attempt })], [job], [balance]);

    const changes = { status: "completed", phase: "ended", fence: 4, leaseOwner: null, dueAt: null, error: null, creditsCharged: 5, completedAt: NOW, cancelDueAt: null, handle: null };
    expect(decision.results).to.deep.equal([{ ...job, ...changes }]);
    expect(decision.updates).to.deep.equal([{ id: job.id, fence: 3, changes }]);
    expect(decision.tracks).to.deep.equal([track]);
    expect(decision.attempts).to.deep.equal([{ ...attempt, jobId: job.id }]);
    expect(decision.movements[0]?.after).to.deep.equal({ ...balance, reservedMonthly: 0, reservedPack: 0, spent: 5, runningJobs: 0, ledgerSeq: 2 });
    expect(decision.movements[0]?.entries.map(({ kind, jobId }) => ({ kind, jobId }))).to.deep.equal([{ kind: "charge", jobId: job.id }]);
  });

  it("fails a job: full refund into the buckets it came from, and the reason", () => {
    const job = aRunningJob();
    const decision = decide([aSettleCommand(job, { outcome: FAILED })], [job], [balanceOf(job)]);
    expect(decision.results[0]).to.deep.include({ status: "failed", creditsCharged: 0, completedAt: NOW, dueAt: null });
    expect(decision.results[0]?.error).to.deep.equal({ code: "generation_failed", message: "It failed." });
    expect(decision.movements[0]?.after).to.include({ monthly: 4, pack: 1, reservedMonthly: 0, reservedPack: 0, spent: 0, runningJobs: 0 });
    expect(decision.tracks).to.deep.equal([]);
  });

  it("fails a job that waits, as a deadline or an operator does", () => {
    const job = aJob({ reserved: { monthly: 5, pack: 0 } });
    const [ended] = decide([aSettleCommand(job, { fence: null, outcome: FAILED })], [job], [balanceOf(job)]).results;
    expect(ended).to.include({ status: "failed", fence: 1 });
  });

  it("has the provider told of work that an operator or a deadline ended, and of no other", () => {
    const told = (job: Job, fence: number | null): number | null | undefined =>
      decide([aSettleCommand(job, { fence, outcome: FAILED })], [job], [balanceOf(job)]).results[0]?.cancelDueAt;
    const rendering = aRunningJob({ phase: "rendering" });
    expect(told(rendering, null)).to.equal(NOW);
    expect(told(rendering, rendering.fence)).to.equal(null);
    expect(told(aJob({ reserved: { monthly: 5, pack: 0 } }), null)).to.equal(null);
  });

  it("keeps the files of a split with its job", () => {
    const job = aRunningJob({ kind: "stem_split" });
    const outputs = [{ label: "vocals", audioKey: "k.wav", contentType: "audio/wav", sizeBytes: 9, durationSeconds: 1 }];
    const decision = decide([aSettleCommand(job, { outcome: { status: "completed", tracks: [], outputs } })], [job], [balanceOf(job)]);
    expect(decision.outputs).to.deep.equal([{ jobId: job.id, outputs }]);
    expect(decision.tracks).to.deep.equal([]);
  });

  it("never completes a job that waits", () => {
    const job = aJob();
    expect(() => decide([aSettleCommand(job)], [job], [balanceOf(job)])).to.throw(AssertionError);
  });

  describe("changes nothing", () => {
    for (const status of ["completed", "failed"] as const) {
      it(`on a job that is ${status}, whoever reports`, () => {
        const job = aRunningJob({ status, phase: "ended", leaseOwner: null });
        const commands = [aSettleCommand(job), aSettleCommand(job, { fence: null, outcome: FAILED })];
        expect(decide(commands, [job], [balanceOf(job)])).to.deep.equal({ results: [null, null], ...NOTHING });
      });
    }

    it("for a worker whose job another one has by now", () => {
      const job = aRunningJob({ fence: 3 });
      const commands = [2, 4].map((fence) => aSettleCommand(job, { fence }));
      expect(decide(commands, [job], [balanceOf(job)])).to.deep.equal({ results: [null, null], ...NOTHING });
    });

    it("for a job that does not exist", () => {
      expect(decide([aSettleCommand(aRunningJob())], [], [])).to.deep.equal({ results: [null], ...NOTHING });
    });
  });

  it("lets the first report of a batch win", () => {
    const job = aRunningJob();
    const complete = aSettleCommand(job);
    const cancel = aSettleCommand(job, { fence: null, outcome: FAILED });
    const completedFirst = decide([complete, cancel], [job], [balanceOf(job)]);
    expect(completedFirst.results.map((ended) => ended?.status ?? null)).to.deep.equal(["completed", null]);
    const cancelledFirst = decide([cancel, complete], [job], [balanceOf(job)]);
    expect(cancelledFirst.results.map((ended) => ended?.status ?? null)).to.deep.equal(["failed", null]);
    for (const { updates, movements } of [completedFirst, cancelledFirst]) {
      expect(updates).to.have.length(1);
      expect(movements.flatMap(({ entries }) => entries)).to.have.length(1);
    }
  });

  it("gives a worker that does not know of its first report the job it completed, and charges nothing again", () => {
    const job = aRunningJob({ fence: 3 });
    const [completed] = decide([aSettleCommand(job)], [job], [balanceOf(job)]).results;
    if (!completed) expect.fail("the job completes");
    expect(decide([aSettleCommand(job)], [completed], [balanceOf()])).to.deep.equal({ results: [completed], ...NOTHING });
  });

  it("gives nobody else that job: an older worker, an operator, or a report of failure", () => {
    const job = aRunningJob({ status: "completed", phase: "ended", fence: 4, leaseOwner: null });
    const commands = [
      aSettleCommand(job, { fence: 2 }),
      aSettleCommand(job, { fence: null, outcome: FAILED }),
      aSettleCommand(job, { fence: 3, outcome: FAILED }),
    ];
    expect(decide(commands, [job], [])).to.deep.equal({ results: [null, null, null], ...NOTHING });
  });

  it("takes a cancelled job from a worker for good, though its fence was the last", () => {
    const job = aRunningJob({ status: "failed", phase: "ended", fence: 4, leaseOwner: null });
    expect(decide([aSettleCommand(job, { fence: 3 })], [job], []).results).to.deep.equal([null]);
  });

  it("settles many jobs of an account in one movement", () => {
    const accountId = anId("acct");
    const jobs = [aRunningJob({ accountId }), aRunningJob({ accountId }), aRunningJob({ accountId })];
    const commands = jobs.map((job, index) => aSettleCommand(job, index === 1 ? { outcome: FAILED } : {}));
    const { movements } = decide(commands, jobs, [balanceOf(...jobs)]);
    expect(movements).to.have.length(1);
    expect(movements[0]?.entries.map(({ kind, seq }) => [kind, seq])).to.deep.equal([["charge", 4], ["refund", 5], ["charge", 6]]);
    expect(movements[0]?.after).to.include({ spent: 10, monthly: 4, pack: 1, runningJobs: 0, reservedMonthly: 0, reservedPack: 0 });
  });
});

describe("Jobs from acceptance to their end", () => {
  const accounts = [anId("acct"), anId("acct")] as const;
  type Step =
    | { readonly kind: "accept"; readonly account: AccountId; readonly costs: readonly number[] }
    | { readonly kind: "settle"; readonly reports: readonly { readonly which: number; readonly fenceOff: number; readonly how: number }[] };
  const anyStep: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constant("accept" as const), account: fc.constantFrom(...accounts), costs: fc.array(fc.nat({ max: 9 }), { maxLength: 5 }) }),
    fc.record({
      kind: fc.constant("settle" as const),
      reports: fc.array(fc.record({ which: fc.nat(), fenceOff: fc.constantFrom(0, 0, 0, -1, 1), how: fc.nat({ max: 2 }) }), { maxLength: 6 }),
    }),
  );

  it("keep every invariant of the ledger, however often and by whomever they are reported", () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 15 }), fc.nat({ max: 60 }), fc.nat({ max: 40 }), (steps, monthly, pack) => {
        const jobs = new Map<JobId, Job>();
        const before = accounts.map((accountId) => aBalance({ accountId, monthly, pack }));
        const balances = new Map(before.map((balance) => [balance.accountId, balance]));
        const entries: LedgerEntry[] = [];
        for (const step of steps) {
          const movements = step.kind === "accept" ? accept(step, jobs, balances) : settle(step.reports, jobs, balances);
          for (const { after, entries: added } of movements) {
            balances.set(after.accountId, after);
            entries.push(...added);
          }
          for (const account of before) check(account, jobs, balances, entries);
        }
      }),
    );
  });

  function accept(step: Extract<Step, { kind: "accept" }>, jobs: Map<JobId, Job>, balances: Map<AccountId, Balance>): SettleDecision["movements"] {
    const commands = step.costs.map((cost) => anAcceptCommand(step.account, { cost, concurrencyLimit: 6 }));
    const decision = decideAcceptance(commands, stateOf([...balances.values()]));
    for (const job of decision.jobs) jobs.set(job.id, { ...job, status: "processing", phase: "submitting", fence: 1 });
    return decision.movements;
  }

  function settle(
    reports: Extract<Step, { kind: "settle" }>["reports"],
    jobs: Map<JobId, Job>,
    balances: Map<AccountId, Balance>,
  ): SettleDecision["movements"] {
    const all = [...jobs.values()];
    if (all.length === 0) return [];
    const commands = reports.map(({ which, fenceOff, how }) => {
      const job = all[which % all.length] as Job;
      if (how === 0) return aSettleCommand(job, { fence: job.fence + fenceOff });
      return aSettleCommand(job, { fence: how === 1 ? job.fence + fenceOff : null, outcome: FAILED });
    });
    const decision = decideSettlement(commands, jobs, balances, NOW);
    for (const { id, fence, changes } of decision.updates) {
      const job = jobs.get(id) as Job;
      expect(job.fence).to.equal(fence);
      jobs.set(id, { ...job, ...changes });
    }
    return decision.movements;
  }

  function check(start: Balance, jobs: ReadonlyMap<JobId, Job>, balances: ReadonlyMap<AccountId, Balance>, all: readonly LedgerEntry[]): void {
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
    expect(balance.spent).to.equal(own.filter(({ status }) => status === "completed").reduce((sum, job) => sum + job.creditsCharged, 0));
    for (const job of own) {
      const kinds = entries.filter(({ jobId }) => jobId === job.id).map(({ kind }) => kind);
      const end = { completed: ["charge"], failed: ["refund"], queued: [], processing: [] }[job.status];
      expect(kinds).to.deep.equal(["reserve", ...end]);
    }
  }
});
