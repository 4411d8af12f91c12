import { expect } from "chai";
import { checkRun, reportOf, type RuleName, RULES } from "../../support/nemesis/check-run.js";
import { ALICE, anEntry, aRun, BOB, create, credits, get, type PlantedRun, UNKNOWN } from "./a-run.js";

/** What is wrong with a run, by the rule that has to find it. */
const PLANTED: Readonly<Record<RuleName, Readonly<Record<string, (run: PlantedRun) => void>>>> = {
  "an acknowledged job is there": {
    "a job that was acknowledged is not stored": ({ final }) => void final.jobs.splice(0, 1),
    "a job that was acknowledged belongs to another account": ({ final }) => void (final.jobs[0]!.accountId = BOB),
    "a job that was acknowledged has another key": ({ final }) => void (final.jobs[0]!.key = "key-2"),
  },
  "a key has one job, and one response": {
    "a key has two jobs": ({ final }) => void final.jobs.push({ ...final.jobs[0]!, id: "job_9" }),
    "a replay names another job": ({ history }) => void history.push(anEntry(400, 410, create("key-1", "job_2"))),
    "a replay has other bytes": ({ history }) =>
      void history.push(
        anEntry(400, 410, { ...create("key-1", "job_1"), response: "{}" } as ReturnType<typeof create>),
      ),
  },
  "what was refused has no job": {
    "a key that was refused has a job": ({ final }) =>
      void final.jobs.push({ id: "job_9", accountId: ALICE, key: "key-4", status: "failed", charged: 0, createdAt: 9 }),
  },
  "a job was asked for": {
    "there is a job with a key that no client used": ({ final }) =>
      void final.jobs.push({ id: "job_9", accountId: ALICE, key: "key-9", status: "failed", charged: 0, createdAt: 9 }),
  },
  "a list has what was acknowledged": {
    "a list lacks an acknowledged job": ({ history }) =>
      void history.push(anEntry(400, 410, { kind: "list", limit: 50, seen: [seen("job_1", "completed", 1)] })),
    "a list has a job of another account": ({ history }) =>
      void history.push(anEntry(5, 6, { kind: "list", limit: 50, seen: [seen("job_5", "completed", 1)] })),
  },
  "a response is one of those that a client expects": {
    "a client gets an internal error": ({ history }) =>
      void history.push(anEntry(400, 410, credits(104, 1), { outcome: "unknown", status: 500 })),
    "a known job is not found": ({ history }) =>
      void history.push(
        anEntry(400, 410, { kind: "get", jobId: "job_1", seen: null }, { outcome: "refused", status: 404 }),
      ),
  },
  "a job is charged or refunded once": {
    "a job is charged twice": ({ final }) =>
      void final.entries.push({ ...final.entries.find(({ kind }) => kind === "charge")!, seq: 9 }),
    "a failed job is charged": ({ final }) => {
      const row = final.entries.find(({ kind, jobId }) => kind === "refund" && jobId === "job_2")!;
      Object.assign(row, { kind: "charge", available: 0, spent: 1 });
    },
    "a job is refunded more than it reserved": ({ final }) =>
      void (final.entries.find(({ kind }) => kind === "refund")!.available = 2),
    "a job is not settled": ({ final }) =>
      void final.entries.splice(
        final.entries.findIndex(({ kind }) => kind === "refund"),
        1,
      ),
  },
  "a job is bought once": {
    "a job is bought twice": ({ final }) => void final.purchases.push({ ...final.purchases[0]!, id: "work-9" }),
    "work is bought for no job": ({ final }) => void (final.purchases[1]!.jobId = "job_9"),
  },
  "what was bought is delivered": {
    "finished work is not delivered": ({ final }) =>
      void final.purchases.push({ id: "work-9", jobId: "job_2", state: "finished", isDelivered: false }),
    "work is cancelled that no client cancelled": ({ final }) => void (final.purchases[1]!.state = "cancelled"),
    "a completed job has other files": ({ final }) => void (final.purchases[0]!.isDelivered = false),
    "a completed job was never bought": ({ final }) => void final.purchases.splice(0, 1),
  },
  "a credit read is consistent with the ledger": {
    "a balance never was": ({ history }) => void history.push(anEntry(400, 410, credits(77, 1))),
    "a balance lacks an acknowledged reservation": ({ history }) => void history.push(anEntry(55, 59, credits(100, 0))),
    "a balance lacks a charge that was seen": ({ history }) => void history.push(anEntry(212, 218, credits(98, 0))),
    "a balance lacks a grant that was acknowledged": ({ history }) =>
      void history.push(anEntry(235, 239, credits(99, 1))),
    "a balance has a reservation before it was asked for": ({ history }) =>
      void history.push(anEntry(11, 15, credits(99, 0))),
    "a balance goes back": ({ history, final }) => {
      // Neither of two reservations is acknowledged: only the order of the two reads says which comes first.
      for (const entry of history.filter(({ action }) => action.kind !== "credits")) Object.assign(entry, UNKNOWN);
      final.entries.splice(0, 8, ...final.entries.slice(0, 3));
      history.push(anEntry(400, 410, credits(98, 0)), anEntry(420, 430, credits(99, 0)));
      history.splice(
        history.findIndex(({ action }) => action.kind === "credits" && action.seen?.available === 104),
        1,
      );
    },
  },
  "a grant is made once": {
    "a grant is lost": ({ final }) => void final.entries.splice(7, 1),
    "a grant is made twice": ({ final }) => void final.entries.push({ ...final.entries[7]!, seq: 9 }),
    "a grant has another amount": ({ final }) => void (final.entries[7]!.available = 6),
  },
  "an end is final": {
    "a completed job is seen as failed": ({ history }) =>
      void history.push(anEntry(400, 410, get("job_1", "failed", 0))),
    "a completed job is seen in progress": ({ history }) =>
      void history.push(anEntry(400, 410, get("job_1", "processing", 1))),
    "a job that was seen to end is stored otherwise": ({ final }) =>
      void Object.assign(final.jobs[0]!, { status: "failed", charged: 0, createdAt: 9 }),
    "a job that was cancelled is completed": ({ final }) =>
      void Object.assign(final.jobs[2]!, { status: "completed", charged: 1 }),
  },
  "everything ends after healing": {
    "a job is left": ({ final }) => void final.left.push("job job_2 is rendering"),
  },
  "every receiver gets every event, of the right state": {
    "a receiver did not get an event": ({ final }) => void final.received.splice(0, 1),
    "a receiver refused an event": ({ final }) => void (final.received[0]!.isTaken = false),
    "an event has another state": ({ final }) => void (final.received[0]!.jobStatus = "failed"),
    "an event has another type": ({ final }) => void (final.received[0]!.type = "generation.failed"),
    "an event arrives that is not stored": ({ final }) =>
      void final.received.push({ ...final.received[0]!, eventId: "evt_9" }),
    "a job has no event": ({ final }) => void final.events.splice(1, 1),
    "a job has two events": ({ final }) => void final.events.push({ ...final.events[0]!, id: "evt_9" }),
  },
};

const seen = (id: string, status: string, charged: number) => ({ id, status, charged });

describe("The checker of nemesis runs", () => {
  it("finds nothing in the run of a correct installation", () => {
    expect(checkRun(aRun())).to.deep.equal([]);
  });

  it("accepts reads that overlap with what they may or may not see", () => {
    const run = aRun();
    // While the first job is created, both balances are right, and a lost reply may have been carried out.
    run.history.push(anEntry(25, 45, credits(100, 0)), anEntry(26, 46, credits(99, 0)));
    run.history.push(anEntry(145, 149, get("job_1", "processing", 1)));
    expect(checkRun(run)).to.deep.equal([]);
  });

  for (const [rule, plants] of Object.entries(PLANTED)) {
    for (const [title, plant] of Object.entries(plants)) {
      it(`finds that ${title}: "${rule}"`, () => {
        const run = aRun();
        plant(run);
        expect(checkRun(run).map((violation) => violation.rule)).to.include(rule);
      });
    }
  }

  it("has a planted violation for each rule", () => {
    expect(Object.keys(PLANTED)).to.have.members(Object.keys(RULES));
  });

  it("reports a violation with what clients did with the job", () => {
    const run = aRun();
    run.final.jobs.splice(0, 1);
    expect(reportOf(checkRun(run)).split("\n")).to.include.members([
      "an acknowledged job is there: 2 times",
      "  job_1 was acknowledged for key key-1, and is not stored",
      "    0.040-0.050 s client 0 (acct_alice) at serve 0: create with key key-1 -> job_1: ok 200",
    ]);
  });
});
