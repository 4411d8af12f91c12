import { expect } from "chai";
import type { IssuedKey } from "../../core/accounts/manage-accounts.js";
import { SCOPES } from "../../core/ports/scopes.js";
import type { AccountId, JobId } from "../../core/ids.js";
import type { AcceptCommand, AcceptResult } from "../../core/jobs/decide-acceptance.js";
import type { Job, JobState } from "../../core/jobs/job.js";
import type { ClaimedJob } from "../../core/ports/job-claims.js";
import { aHash, NOON } from "../support/builders.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import {
  claiming,
  collide,
  creating,
  LEASE_MS,
  polling,
  RaceHarness,
  releasing,
  reporting,
  reportingOn,
  type Step,
} from "../support/race-harness.js";
import { A_POLICY, aCancellation, aCancelRequest, aCompletion, anIntent, aReport } from "../support/reports.js";
import type { Point } from "../support/stepping.js";
import { aGivenKey, anAcceptCommand } from "../unit/core/jobs/commands.js";

const COST = 5;

/** After the rows of a decision were read and locked, and after all its writes. */
const POINTS: readonly Point[] = [/FROM \{balances\}/, "before commit"];

/** After the job's row was locked, where a report locks no balance. */
function lockedOr(point: Point): Point {
  return point === "before commit" ? point : /FROM \{jobs\}.* WHERE id IN/;
}

const CANCELS = { ...A_POLICY, capabilities: { ...A_POLICY.capabilities, cancel: true } };

/**
 * Pairs of transactions of two processes on the same rows: one is held in its middle while the other runs into it. Not
 * one port's contract, but what all of them promise together.
 */
export function describeRaces(name: string, open: () => Promise<StorageUnderTest & { readonly url: string }>): void {
  describe(`Races of two processes: ${name}`, () => {
    let storage: StorageUnderTest & { readonly url: string };
    let clock: ManualClock;
    let first: RaceHarness;
    let second: RaceHarness;
    let accountId: AccountId;
    /** Used by no other test, so that a claim finds only the jobs of its test. */
    let providerId = "";

    before(async () => {
      storage = await open();
    });
    after(() => storage.close());
    beforeEach(async () => {
      clock = new ManualClock(NOON);
      providerId = aHash().slice(0, 8);
      [first, second] = [
        await RaceHarness.open(storage.url, clock, providerId),
        await RaceHarness.open(storage.url, clock, providerId),
      ];
      accountId = (await storage.addAccount({}, { monthly: 100 })).id;
    });
    afterEach(async () => {
      await Promise.all([first.close(), second.close()]);
      expect((await storage.ledger.audit()).violations).to.deep.equal([]);
    });

    function aCommand(overrides: Partial<AcceptCommand> = {}): AcceptCommand {
      const command = anAcceptCommand(accountId, overrides);
      return { ...command, job: { ...command.job, providerId } };
    }

    const jobsOf = (): Promise<Job[]> => storage.jobs.listJobs({ accountId, limit: 10 });
    const kindsOf = async (id: JobId): Promise<string[]> =>
      (await storage.ledger.entriesOfJob(id)).map(({ kind }) => kind);

    /** A job that the first process has claimed: its attempt is intended, or accepted by the provider. */
    async function aJobIn(phase: "submitting" | "rendering"): Promise<ClaimedJob> {
      await first.accept.accept(aCommand());
      const claimed = (await first.claim("waiting"))[0] as ClaimedJob;
      await first.reports.apply(anIntent(claimed.job));
      if (phase === "submitting") return claimed;
      const handle = { version: 1, data: { task: "1" } };
      await first.reports.apply(aReport(claimed.job, { type: "accepted", number: 1, handle, nextPollMs: 50 }));
      clock.set(clock.now() + 50);
      return (await first.claim("rendering"))[0] as ClaimedJob;
    }

    async function expectEnd(id: JobId, status: "completed" | "failed"): Promise<void> {
      const job = (await storage.jobs.findJobs([id])).get(id);
      expect(job).to.include({
        status,
        phase: "ended",
        leaseOwner: null,
        dueAt: null,
        creditsCharged: status === "completed" ? COST : 0,
      });
      expect(await kindsOf(id)).to.deep.equal(["reserve", status === "completed" ? "charge" : "refund"]);
      expect((await storage.library.tracksOfJobs([id])).size).to.equal(status === "completed" ? 1 : 0);
      expect(await storage.balanceOf(accountId)).to.include({
        runningJobs: 0,
        reservedMonthly: 0,
        spent: status === "completed" ? COST : 0,
      });
    }

    async function expectDueForCallback(id: JobId): Promise<void> {
      expect((await storage.jobs.findJobs([id])).get(id)).to.include({
        phase: "rendering",
        leaseOwner: null,
        dueAt: clock.now(),
      });
      expect(await storage.callbacks.unread(id, 10)).to.have.length(1);
    }

    for (const point of POINTS) {
      const held = point === "before commit" ? point : "after its locking read";

      describe(`create and create, one held ${held}`, () => {
        it("create one job for one idempotency key, and the other gets its response", async () => {
          const commands = [0, 1].map(() => aCommand({ idempotency: aGivenKey("a key") }));
          const [one, other] = await collide(point, creating(first, commands[0]), creating(second, commands[1]));
          expect([one.kind, other.kind]).to.deep.equal(["accepted", "replayed"]);
          const created = commands[0]?.job.id;
          expect(other).to.have.nested.property("record.jobId", created);
          expect(other)
            .to.have.nested.property("record.response")
            .that.deep.equals(one.kind === "accepted" ? one.response : null);
          expect((await jobsOf()).map(({ id }) => id)).to.deep.equal([created]);
          expect(await storage.balanceOf(accountId)).to.include({
            monthly: 100 - COST,
            reservedMonthly: COST,
            runningJobs: 1,
          });
        });

        it("refuse the other when its body differs", async () => {
          const [one, other] = await collide(
            point,
            creating(first, aCommand({ idempotency: aGivenKey("a key") })),
            creating(second, aCommand({ idempotency: aGivenKey("a key", { body: "another body" }) })),
          );
          expect([one.kind, codeOf(other)]).to.deep.equal(["accepted", "idempotency_conflict"]);
          expect(await jobsOf()).to.have.length(1);
        });

        for (const [what, limits, code] of [
          ["the last credits", { cost: 60 }, "insufficient_credits"],
          ["the last free slot", { concurrencyLimit: 1 }, "generation_concurrency_exceeded"],
        ] as const) {
          it(`give ${what} to one of them`, async () => {
            const [one, other] = await collide(
              point,
              creating(first, aCommand(limits)),
              creating(second, aCommand(limits)),
            );
            expect([one.kind, codeOf(other)]).to.deep.equal(["accepted", code]);
            expect(await jobsOf()).to.have.length(1);
          });
        }
      });

      describe(`complete and cancel, one held ${held}`, () => {
        for (const winner of ["complete", "cancel"] as const) {
          it(`end the job once: ${winner} wins`, async () => {
            const { job } = await aJobIn("submitting");
            const written: string[] = [];
            const alongside = async (_tx: unknown, { status }: JobState): Promise<void> => void written.push(status);
            const steps = {
              complete: reportingOn(first, aCompletion(job)),
              cancel: reportingOn(second, { ...aCancellation(job), alongside }),
            };
            const [one, other] = await collide(
              point,
              steps[winner],
              steps[winner === "complete" ? "cancel" : "complete"],
            );
            expect(one).to.include({ id: job.id, status: winner === "complete" ? "completed" : "failed" });
            expect(other).to.equal(null);
            await expectEnd(job.id, winner === "complete" ? "completed" : "failed");
            expect(new Set(written), "written with the cancellation").to.deep.equal(
              new Set(winner === "cancel" ? ["failed"] : []),
            );
          });
        }
      });

      for (const isFirst of [true, false]) {
        const order = isFirst ? "first" : "second";

        it(`request to cancel and intent, one held ${held}, it ${order}: nothing is bought after it`, async () => {
          await first.accept.accept(aCommand());
          const { job } = (await first.claim("waiting"))[0] as ClaimedJob;
          const steps = [reportingOn(second, aCancelRequest(job)), reportingOn(first, anIntent(job))] as const;
          await collide(lockedOr(point), steps[isFirst ? 0 : 1], steps[isFirst ? 1 : 0]);
          const attempts = (await storage.jobs.listAttempts(job.id)).map(({ state }) => state);
          if (isFirst) {
            expect(attempts).to.deep.equal([]);
            await expectEnd(job.id, "failed");
          } else {
            expect(attempts).to.deep.equal(["intended"]);
            const now = clock.now();
            expect((await jobsOf())[0]).to.include({ status: "processing", cancelRequestedAt: now });
          }
        });

        it(`request to cancel and acceptance, one held ${held}, it ${order}: the provider is asked`, async () => {
          const { job } = await aJobIn("submitting");
          const accepted = { type: "accepted", number: 1, handle: { version: 1, data: {} }, nextPollMs: 50 } as const;
          const steps = [
            reportingOn(second, aCancelRequest(job, CANCELS)),
            reportingOn(first, aReport(job, accepted, { policy: CANCELS })),
          ] as const;
          await collide(lockedOr(point), steps[isFirst ? 0 : 1], steps[isFirst ? 1 : 0]);
          const now = clock.now();
          expect((await storage.jobs.listAttempts(job.id))[0]).to.include({ state: "accepted", cancelDueAt: now });
          expect((await jobsOf())[0]).to.include({ status: "processing", cancelRequestedAt: now });
        });

        it(`request to cancel and completion, one held ${held}, it ${order}: the bought work is paid`, async () => {
          const { job } = await aJobIn("submitting");
          const steps = [reportingOn(second, aCancelRequest(job)), reportingOn(first, aCompletion(job))] as const;
          await collide(lockedOr(point), steps[isFirst ? 0 : 1], steps[isFirst ? 1 : 0]);
          await expectEnd(job.id, "completed");
        });

        it(`confirmed cancellation and completion, one held ${held}, the former ${order}: it ends once`, async () => {
          const { job } = await aJobIn("rendering");
          await second.reports.apply(aCancelRequest(job, CANCELS));
          const confirmed = { type: "cancel_reported", number: 1, outcome: "cancelled" } as const;
          const cancelling = reportingOn(second, aReport(job, confirmed, { fence: null, policy: CANCELS }));
          const completing = reportingOn(first, aCompletion(job));
          const [one, other] = isFirst
            ? await collide(point, cancelling, completing)
            : await collide(point, completing, cancelling);
          expect([one?.id, other]).to.deep.equal([job.id, null]);
          await expectEnd(job.id, isFirst ? "failed" : "completed");
        });
      }

      it(`complete and lease expiry, the completion held ${held}: no other worker claims the job`, async () => {
        const { job } = await aJobIn("submitting");
        clock.set(clock.now() + LEASE_MS);
        const [ended, claimed] = await collide(
          point,
          reportingOn(first, aCompletion(job)),
          claiming(second, "submitting"),
        );
        expect(ended).to.include({ status: "completed" });
        expect(claimed).to.deep.equal([]);
        await expectEnd(job.id, "completed");
      });

      it(`late completion and poll, the late completion held ${held}: the bought work is delivered`, async () => {
        const late = await aJobIn("rendering");
        clock.set(clock.now() + LEASE_MS);
        const successor = (await second.claim("rendering"))[0] as ClaimedJob;
        const [ended] = await collide(point, reportingOn(first, aCompletion(late.job)), releasing(second, successor));
        expect(ended).to.include({ status: "completed" });
        await expectEnd(late.job.id, "completed");
        expect((await second.reports.apply(aCompletion(successor.job))).ended).to.equal(null);
        await expectEnd(late.job.id, "completed");
      });
    }

    it("lease expiry and complete, the claim held before commit: the bought work is delivered once", async () => {
      const { job } = await aJobIn("submitting");
      clock.set(clock.now() + LEASE_MS);
      const [claimed, ended] = await collide(
        "before commit",
        claiming(second, "submitting"),
        reportingOn(first, aCompletion(job)),
      );
      expect(claimed.map(({ job: { id, fence }, wasLost }) => ({ id, fence, wasLost }))).to.deep.equal([
        { id: job.id, fence: job.fence + 1, wasLost: true },
      ]);
      expect(ended).to.include({ status: "completed" });
      expect((await second.reports.apply(aCompletion((claimed[0] as ClaimedJob).job))).ended).to.equal(null);
      await expectEnd(job.id, "completed");
    });

    it("poll and late completion, the poll held before commit: the bought work is delivered", async () => {
      const late = await aJobIn("rendering");
      clock.set(clock.now() + LEASE_MS);
      const successor = (await second.claim("rendering"))[0] as ClaimedJob;
      const [, ended] = await collide(
        "before commit",
        releasing(second, successor),
        reportingOn(first, aCompletion(late.job)),
      );
      expect(ended).to.include({ status: "completed" });
      await expectEnd(late.job.id, "completed");
    });

    it("poll and poll, one held before commit: one of them claims the job", async () => {
      const claimed = await aJobIn("rendering");
      await first.reports.apply(aReport(claimed.job, { type: "released", afterMs: 0 }));
      const [one, other] = await collide("before commit", claiming(first, "rendering"), claiming(second, "rendering"));
      expect(one.map(({ job: { id, fence } }) => ({ id, fence }))).to.deep.equal([
        { id: claimed.job.id, fence: claimed.job.fence + 1 },
      ]);
      expect(other).to.deep.equal([]);
    });

    for (const point of [/FROM \{jobs\} WHERE id = \?/, "before commit"] as const) {
      const held = point === "before commit" ? point : "after its locking read";

      it(`callback and poll, the callback held ${held}: the job is due at once for the unseen callback`, async () => {
        const claimed = await aJobIn("rendering");
        await collide(point, reporting(second, claimed), polling(first, claimed));
        await expectDueForCallback(claimed.job.id);
      });

      it(`callback and completion, the callback held ${held}: the job ends once, whatever it reports`, async () => {
        const claimed = await aJobIn("rendering");
        await collide(point, reporting(second, claimed), reportingOn(first, aCompletion(claimed.job)));
        await expectEnd(claimed.job.id, "completed");
      });
    }

    it("poll and callback, the poll held before commit: the job is due at once for the unseen callback", async () => {
      const claimed = await aJobIn("rendering");
      await collide("before commit", polling(first, claimed), reporting(second, claimed));
      await expectDueForCallback(claimed.job.id);
    });

    it("completion and callback, the completion held before commit: no callback is stored", async () => {
      const claimed = await aJobIn("rendering");
      await collide("before commit", reportingOn(first, aCompletion(claimed.job)), reporting(second, claimed));
      await expectEnd(claimed.job.id, "completed");
      expect(await storage.callbacks.unread(claimed.job.id, 10)).to.deep.equal([]);
    });

    describe("revoke and create", () => {
      let issued: IssuedKey;
      beforeEach(async () => {
        issued = await first.accounts.issueKey(accountId, { scopes: SCOPES });
      });

      /** As a request does it: the caller is authenticated first. */
      const creatingWith = ({ token }: IssuedKey, by: RaceHarness): Step<AcceptResult> => ({
        by,
        async begin() {
          const { account } = await by.authenticate.identify(`Bearer ${token}`);
          return by.accept.accept(anAcceptCommand(account.id));
        },
      });
      const revoking = (by: RaceHarness): Step<void> => ({ by, begin: () => by.accounts.revokeKey(issued.key.id) });

      async function expectRefusedFromNowOn(): Promise<void> {
        for (const race of [first, second]) {
          clock.set(clock.now() + 1_000);
          const refusal = await creatingWith(issued, race)
            .begin()
            .catch((error: unknown) => error);
          expect(refusal).to.have.property("code", "revoked_api_key");
        }
        expect(await jobsOf()).to.have.length(1);
      }

      it("the revocation held before commit: earlier creations complete, and none starts after it", async () => {
        const [, created] = await collide("before commit", revoking(first), creatingWith(issued, second));
        expect(created.kind).to.equal("accepted");
        await expectRefusedFromNowOn();
      });

      for (const point of POINTS) {
        const held = point === "before commit" ? point : "after its read";
        it(`the creation held ${held}: it completes, none starts later`, async () => {
          const [created] = await collide(point, creatingWith(issued, second), revoking(first));
          expect(created.kind).to.equal("accepted");
          await expectRefusedFromNowOn();
        });
      }
    });
  });
}

function codeOf(result: AcceptResult): string {
  return result.kind === "refused" ? result.error.code : result.kind;
}
