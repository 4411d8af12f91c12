import { expect } from "chai";
import { type Tier, Tiers } from "../../core/accounts/tiers.js";
import { ManageCredits } from "../../core/credits/manage-credits.js";
import type { AccountId } from "../../core/ids.js";
import { aJob, aMovement, anId, aReservation, aSettlement, NO_UPLOADS, NOON } from "../support/builders.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";
import { unrecorded } from "../../core/audit/unrecorded.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { collide, type Step } from "../support/race-harness.js";
import { openSteppedProcess, type Point, type SteppedProcess } from "../support/stepping.js";

const PLENTY = { perMinute: 1_000, perDay: 1_000 };
const RATES = { read: PLENTY, generation: PLENTY, write: PLENTY };
const ALLOWANCE = 1_000;
const TIERS = new Tiers([
  { name: "pro", maxConcurrent: 10, monthlyCredits: ALLOWANCE, rateLimits: RATES, uploads: NO_UPLOADS },
  { name: "none", maxConcurrent: 10, monthlyCredits: 0, rateLimits: RATES, uploads: NO_UPLOADS },
] satisfies Tier[]);

/** Where two calls meet: after the locking read, or before the commit. */
const POINTS: readonly Point[] = [/FROM \{balances\}/, "before commit"];

/** Renewals may be repeated, sequentially and concurrently, and take effect once a period. */
export function describeRenewals(name: string, open: () => Promise<StorageUnderTest & { readonly url: string }>): void {
  describe(`Repeated renewals: ${name}`, () => {
    let storage: StorageUnderTest & { readonly url: string };
    let clock: ManualClock;
    let credits: ManageCredits;
    let accountId: AccountId;

    before(async () => {
      storage = await open();
    });
    after(() => storage.close());
    beforeEach(async () => {
      clock = new ManualClock(NOON);
      credits = new ManageCredits({ ...storage, audit: unrecorded(storage.unitOfWork), clock, tiers: TIERS });
      accountId = (await storage.addAccount()).id;
    });
    afterEach(async () => {
      expect((await storage.ledger.audit()).violations).to.deep.equal([]);
    });

    const spend = async (cost: number): Promise<void> => {
      const job = aJob({ accountId, kind: "stem_split", reserved: { monthly: cost, pack: 0 } });
      await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [job]));
      await storage.apply(aReservation(await storage.balanceOf(accountId), job));
      await storage.apply(aSettlement(await storage.balanceOf(accountId), job, "charge"));
      const changes = { status: "completed", phase: "ended", dueAt: null, completedAt: NOON } as const;
      await storage.inTransaction((tx) => storage.jobs.updateJobs(tx, [{ id: job.id, fence: job.fence, changes }]));
    };
    const renewals = async (): Promise<unknown[]> =>
      (await storage.ledger.listEntries(accountId, 100))
        .filter(({ kind }) => kind === "renew")
        .map(({ reference }) => reference);
    const codeOf = (outcome: Promise<unknown>): Promise<string> =>
      outcome.then(
        () => "done",
        (error: unknown) => (error as Error).message,
      );

    it("start a period once: spent credits stay spent", async () => {
      expect(await credits.renew(accountId, { period: "2026-11" })).to.include({
        monthly: ALLOWANCE,
        isRepeated: false,
        period: "2026-11",
      });
      await spend(400);
      const before = await storage.balanceOf(accountId);
      expect(await credits.renew(accountId, { period: "2026-11" })).to.deep.equal({
        ...before,
        period: "2026-11",
        isRepeated: true,
      });
      expect(await storage.balanceOf(accountId)).to.deep.equal(before);
      expect(before).to.include({ monthly: 600, spent: 400 });
    });

    it("use the current month in UTC as the period, and start the next one when it begins", async () => {
      clock.set(Date.UTC(2026, 11, 1) - 1);
      await credits.renew(accountId);
      expect(await credits.renew(accountId, { period: "2026-11" })).to.include({ isRepeated: true });
      await spend(400);
      clock.set(Date.UTC(2026, 11, 1));
      expect(await credits.renew(accountId)).to.include({ monthly: ALLOWANCE, period: "2026-12", isRepeated: false });
      expect(await renewals()).to.deep.equal([`renew:${accountId}:2026-12`, `renew:${accountId}:2026-11`]);
    });

    it("keep the periods of accounts separate", async () => {
      const other = (await storage.addAccount()).id;
      await credits.renew(accountId);
      expect(await credits.renew(other)).to.include({ monthly: ALLOWANCE, isRepeated: false });
    });

    it("are recorded in a tier without monthly credits too: later grants do not expire", async () => {
      accountId = (await storage.addAccount({ tier: "none" })).id;
      await credits.renew(accountId);
      await credits.grant(accountId, 50);
      expect(await credits.renew(accountId)).to.include({ monthly: 50, isRepeated: true });
    });

    it("follow renewals from before periods were recorded, whose rows do not change", async () => {
      const old = aMovement(await storage.balanceOf(accountId), { kind: "renew", monthly: 700 });
      await storage.apply(old);
      expect(await credits.renew(accountId)).to.include({ monthly: ALLOWANCE, isRepeated: false });
      expect(await credits.renew(accountId)).to.include({ monthly: ALLOWANCE, isRepeated: true });
      expect(await renewals()).to.deep.equal([`renew:${accountId}:2026-11`, null]);
    });

    it("share no reference with grants: a new grant cannot use theirs, and an older one keeps its own", async () => {
      const taken = `renew:${accountId}:2026-11`;
      expect(await codeOf(credits.grant(accountId, 5, { reference: taken }))).to.include(
        "begins like those of renewals",
      );
      await credits.renew(accountId);
      expect(await codeOf(credits.grant(accountId, ALLOWANCE, { reference: taken }))).to.include(
        "was used for another grant",
      );
      await storage.apply(aMovement(await storage.balanceOf(accountId), { monthly: 5, reference: "renew: order 17" }));
      expect(await credits.grant(accountId, 5, { reference: "renew: order 17" })).to.include({
        monthly: ALLOWANCE + 5,
      });
      const december = `renew:${accountId}:2026-12`;
      await storage.apply(aMovement(await storage.balanceOf(accountId), { monthly: 5, reference: december }));
      expect(await codeOf(credits.renew(accountId, { period: "2026-12" }))).to.equal(
        `The reference ${december} was used for a grant.`,
      );
      expect(await storage.balanceOf(accountId)).to.include({ monthly: ALLOWANCE + 10 });
    });

    it("are refused for an invalid month or an unknown account", async () => {
      expect(await codeOf(credits.renew(accountId, { period: "2026-13" }))).to.equal(
        "A period is a month, such as 2026-11; got 2026-13.",
      );
      expect(await codeOf(credits.renew(anId("acct")))).to.include("There is no account");
      expect(await renewals()).to.deep.equal([]);
    });

    describe("by two processes at once", () => {
      let processes: SteppedProcess[];
      beforeEach(async () => {
        processes = [await openSteppedProcess(storage.url), await openSteppedProcess(storage.url)];
      });
      afterEach(() => Promise.all(processes.map((process) => process.close())));

      for (const point of POINTS) {
        const held = point === "before commit" ? point : "after its read";
        it(`start the period once, the first held ${held}`, async () => {
          const steps = processes.map((process): Step<{ readonly isRepeated: boolean }> => {
            const audit = unrecorded(process.stores.unitOfWork);
            const own = new ManageCredits({ ...process.stores, audit, clock, tiers: TIERS });
            return { by: { process }, begin: () => own.renew(accountId) };
          });
          const [one, other] = await collide(
            point,
            ...(steps as [Step<{ isRepeated: boolean }>, Step<{ isRepeated: boolean }>]),
          );
          expect([one.isRepeated, other.isRepeated]).to.deep.equal([false, true]);
          expect(await storage.balanceOf(accountId)).to.include({ monthly: ALLOWANCE });
          expect(await renewals()).to.have.length(1);
        });
      }
    });
  });
}
