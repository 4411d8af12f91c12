import { expect } from "chai";
import { INVARIANTS } from "../../adapters/storage/sql/ledger/ledger-invariants.js";
import type { Account } from "../../core/ports/account.js";
import type { Job } from "../../core/jobs/job.js";
import type { LedgerPage, LedgerViolation } from "../../core/ports/ledger-store.js";
import type { WebhookDelivery, WebhookEndpoint } from "../../core/ports/webhook-records.js";
import {
  aJob,
  aMovement,
  anAccount,
  anId,
  anIdempotencyRecord,
  aReservation,
  aSettlement,
  aTrack,
  NOON,
} from "../support/builders.js";
import { sqliteStorage, type SqliteUnderTest } from "../support/databases.js";
import { aDelivery, anEndpoint, anEvent, aDeliveryAttempt } from "../support/webhook-builders.js";

/** One account with one job of every status and their rows. */
interface World {
  readonly account: Account;
  readonly queued: Job;
  readonly rendering: Job;
  readonly completed: Job;
  readonly failed: Job;
  /** Of the account; the completed job's delivery is pending, and the failed one's was delivered. */
  readonly endpoint: WebhookEndpoint;
  readonly pending: WebhookDelivery;
  readonly delivered: WebhookDelivery;
}

/** Statements that violate one invariant each, and the name that the audit must report for it. */
const DAMAGE: Readonly<
  Record<string, (world: World) => { readonly sql: readonly string[]; readonly subject: string }>
> = {
  "account-has-balance": ({ account }) => ({
    sql: [`DELETE FROM fermata_balances WHERE account_id = '${account.id}'`],
    subject: account.id,
  }),
  "balance-has-account": ({ account }) => ({
    sql: [`DELETE FROM fermata_accounts WHERE id = '${account.id}'`],
    subject: account.id,
  }),
  "balance-is-not-negative": ({ account }) => ({ sql: ["UPDATE fermata_balances SET pack = -1"], subject: account.id }),
  "balance-equals-sum-of-entries": ({ account }) => ({
    sql: ["UPDATE fermata_balances SET spent = spent + 1"],
    subject: account.id,
  }),
  "entries-are-numbered-without-gaps": ({ account }) => ({
    sql: ["UPDATE fermata_ledger_entries SET seq = 99 WHERE seq = 1"],
    subject: account.id,
  }),
  "running-jobs-are-the-live-jobs": ({ account }) => ({
    sql: ["UPDATE fermata_balances SET running_jobs = 3"],
    subject: account.id,
  }),
  "reserved-is-what-live-jobs-hold": ({ account, queued }) => ({
    sql: [`UPDATE fermata_jobs SET reserved_pack = 9 WHERE id = '${queued.id}'`],
    subject: account.id,
  }),
  "entry-moves-credits-as-its-kind-says": ({ account }) => ({
    sql: ["UPDATE fermata_ledger_entries SET spent = spent + 1, pack = pack - 1 WHERE kind = 'charge'"],
    subject: account.id,
  }),
  "entry-has-a-job-of-its-account": ({ queued }) => ({
    sql: [`UPDATE fermata_jobs SET account_id = '${anId("acct")}' WHERE id = '${queued.id}'`],
    subject: queued.id,
  }),
  "job-is-reserved-and-settled-at-most-once": ({ completed }) => ({
    sql: [
      "DROP INDEX fermata_ledger_entries_job_phase",
      `INSERT INTO fermata_ledger_entries SELECT account_id, 99, kind, job_id, phase, monthly, pack, reserved_monthly,
        reserved_pack, spent,
        external_ref, created_at FROM fermata_ledger_entries WHERE job_id = '${completed.id}' AND phase = 'close'`,
    ],
    subject: completed.id,
  }),
  "job-has-its-reservation": ({ queued }) => ({
    sql: [`DELETE FROM fermata_ledger_entries WHERE job_id = '${queued.id}'`],
    subject: queued.id,
  }),
  "ended-job-is-settled-in-full": ({ failed }) => ({
    sql: [`UPDATE fermata_ledger_entries SET reserved_monthly = -1 WHERE job_id = '${failed.id}' AND phase = 'close'`],
    subject: failed.id,
  }),
  "archived-job-has-ended-and-no-entries": ({ queued }) => ({
    sql: [
      `UPDATE fermata_jobs SET ledger_archived_at = 1 WHERE id = '${queued.id}'`,
      `DELETE FROM fermata_ledger_entries WHERE job_id = '${queued.id}'`,
    ],
    subject: queued.id,
  }),
  "live-job-is-not-settled": ({ completed }) => ({
    sql: [`UPDATE fermata_jobs SET status = 'processing' WHERE id = '${completed.id}'`],
    subject: completed.id,
  }),
  "job-is-charged-only-when-completed": ({ failed }) => ({
    sql: [`UPDATE fermata_ledger_entries SET kind = 'charge' WHERE job_id = '${failed.id}' AND phase = 'close'`],
    subject: failed.id,
  }),
  "credits-charged-is-what-the-job-costs": ({ failed }) => ({
    sql: [`UPDATE fermata_jobs SET credits_charged = 5 WHERE id = '${failed.id}'`],
    subject: failed.id,
  }),
  "status-agrees-with-phase": ({ queued }) => ({
    sql: [`UPDATE fermata_jobs SET phase = 'rendering' WHERE id = '${queued.id}'`],
    subject: queued.id,
  }),
  "ended-job-has-no-lease": ({ failed }) => ({
    sql: [`UPDATE fermata_jobs SET lease_owner = '${anId("prc")}' WHERE id = '${failed.id}'`],
    subject: failed.id,
  }),
  "live-job-is-due-some-time": ({ queued }) => ({
    sql: [`UPDATE fermata_jobs SET due_at = NULL WHERE id = '${queued.id}'`],
    subject: queued.id,
  }),
  "completed-music-has-a-mix": ({ completed }) => ({
    sql: ["UPDATE fermata_track_assets SET role = 'preview'"],
    subject: completed.id,
  }),
  "idempotency-record-has-a-job-of-its-account": ({ completed }) => ({
    sql: [`UPDATE fermata_idempotency_records SET account_id = '${anId("acct")}' WHERE job_id = '${completed.id}'`],
    subject: completed.id,
  }),
  "webhook-delivery-has-an-event": ({ pending }) => ({
    sql: [`DELETE FROM fermata_webhook_events WHERE id = '${pending.eventId}'`],
    subject: pending.id,
  }),
  "webhook-delivery-stays-in-its-account": ({ pending }) => ({
    sql: [`UPDATE fermata_webhook_events SET account_id = '${anId("acct")}' WHERE id = '${pending.eventId}'`],
    subject: pending.id,
  }),
  "webhook-event-has-a-job-of-its-account": ({ pending }) => ({
    sql: [`UPDATE fermata_webhook_events SET job_id = '${anId("job")}' WHERE id = '${pending.eventId}'`],
    subject: pending.eventId,
  }),
  "webhook-try-has-a-delivery": ({ delivered }) => ({
    sql: [`DELETE FROM fermata_webhook_deliveries WHERE id = '${delivered.id}'`],
    subject: delivered.id,
  }),
  "pending-webhook-delivery-is-due-some-time": ({ pending }) => ({
    sql: [`UPDATE fermata_webhook_deliveries SET due_at = NULL WHERE id = '${pending.id}'`],
    subject: pending.id,
  }),
  "ended-webhook-delivery-has-no-lease": ({ delivered }) => ({
    sql: [`UPDATE fermata_webhook_deliveries SET lease_owner = '${anId("prc")}' WHERE id = '${delivered.id}'`],
    subject: delivered.id,
  }),
  "disabled-webhook-endpoint-says-since-when": ({ endpoint }) => ({
    sql: [`UPDATE fermata_webhook_endpoints SET status = 'disabled' WHERE id = '${endpoint.id}'`],
    subject: endpoint.id,
  }),
};

describe("Ledger audit", () => {
  let storage: SqliteUnderTest;
  let world: World;
  beforeEach(async () => {
    storage = await sqliteStorage.open();
    world = await makeWorld(storage);
  });
  afterEach(() => storage.close());

  it("finds no violation in an empty storage", async () => {
    const empty = await sqliteStorage.open();
    const { resume: _resume, ...audit } = await empty.ledger.audit();
    expect(audit).to.deep.equal({ checked: { accounts: 0, entries: 0, jobs: 0 }, violations: [] });
    await empty.close();
  });

  it("finds no violation with jobs of every status", async () => {
    const { resume: _resume, ...audit } = await storage.ledger.audit();
    expect(audit).to.deep.equal({
      checked: { accounts: 1, entries: 7, jobs: 4 },
      violations: [],
    });
  });

  it("has a test violation for each invariant", () => {
    expect(Object.keys(DAMAGE)).to.have.members(INVARIANTS.map((invariant) => invariant.name));
  });

  for (const [name, damage] of Object.entries(DAMAGE)) {
    it(`finds a violation of "${name}"`, async () => {
      const { sql, subject } = damage(world);
      await storage.database.write.raw("PRAGMA ignore_check_constraints = ON");
      for (const statement of sql) await storage.database.write.raw(statement);
      const { violations } = await storage.ledger.audit();
      const found = violations.filter((violation) => violation.invariant === name);
      expect(found.map((violation) => violation.subject)).to.deep.equal([subject]);
      expect(found[0]?.found).to.match(/^\w+ \S+(, \w+ \S+)*$/);
    });
  }

  for (const limit of [1, 3, 1_000]) {
    it(`finds no violation in pages of ${limit}`, async () => {
      expect(await auditedInPages(storage, limit)).to.deep.equal([]);
    });
  }

  for (const [name, damage] of Object.entries(DAMAGE)) {
    const isPaged = !/^(webhook|pending-webhook|ended-webhook|disabled-webhook|idempotency)-/.test(name);
    for (const limit of isPaged ? [1, 1_000] : []) {
      it(`finds a violation of "${name}" in pages of ${limit}`, async () => {
        const { sql, subject } = damage(world);
        await storage.database.write.raw("PRAGMA ignore_check_constraints = ON");
        for (const statement of sql) await storage.database.write.raw(statement);
        const { violations } = await storage.ledger.audit();
        const whole = violations.filter(({ invariant }) => invariant === name);
        const paged = (await auditedInPages(storage, limit)).filter(({ invariant }) => invariant === name);
        expect(paged.map((violation) => violation.subject)).to.deep.equal([subject]);
        expect(paged).to.deep.equal(whole);
      });
    }
  }

  it("finds in pages what an account without entries has, and a number without an entry", async () => {
    const account = anAccount();
    await storage.inTransaction((tx) => storage.accounts.insertAccounts(tx, [account]));
    await storage.database.write("fermata_balances").where("account_id", account.id).update({ ledger_seq: 1, pack: 5 });
    const violations = await auditedInPages(storage, 2);
    expect(violations.map(({ invariant, subject }) => [invariant, subject])).to.deep.equal([
      ["balance-equals-sum-of-entries", account.id],
      ["entries-are-numbered-without-gaps", account.id],
    ]);
  });

  it("finds no violation in pages while an account gets more entries between them", async () => {
    const one = await storage.addAccount({}, { monthly: 3, pack: 4 });
    let cursor: string | null = null;
    for (let grants = 5; ;) {
      const page: LedgerPage = await storage.ledger.auditPage(cursor, 1);
      expect(page.violations).to.deep.equal([]);
      expect(page.checked).to.be.at.most(1);
      if (page.next === null) break;
      // In the middle of the entries of an account.
      if (page.next.includes('"seq"') && grants-- > 0)
        await storage.apply(aMovement(await storage.balanceOf(one.id), { pack: 1 }));
      cursor = page.next;
    }
    expect(await storage.balanceOf(one.id)).to.include({ pack: 9 });
  });

  it("finds a ledger number without an entry", async () => {
    const account = anAccount();
    await storage.inTransaction((tx) => storage.accounts.insertAccounts(tx, [account]));
    await storage.database.write("fermata_balances").where("account_id", account.id).update({ ledger_seq: 1 });
    const { violations } = await storage.ledger.audit();
    expect(violations).to.deep.equal([
      {
        invariant: "entries-are-numbered-without-gaps",
        subject: account.id,
        found: "entries 0, first_number none, last_number none, ledger_seq 1",
      },
    ]);
  });

  // Violations of invariants over more than one column.
  for (const [name, what, damage] of [
    [
      "webhook-event-has-a-job-of-its-account",
      "the job is another account's",
      ({ pending }) =>
        `UPDATE fermata_webhook_events SET account_id = '${anId("acct")}' WHERE id = '${pending.eventId}'`,
    ],
    [
      "pending-webhook-delivery-is-due-some-time",
      "it has ended",
      ({ pending }) => `UPDATE fermata_webhook_deliveries SET ended_at = ${NOON} WHERE id = '${pending.id}'`,
    ],
    [
      "ended-webhook-delivery-has-no-lease",
      "it is due",
      ({ delivered }) => `UPDATE fermata_webhook_deliveries SET due_at = ${NOON} WHERE id = '${delivered.id}'`,
    ],
    [
      "ended-webhook-delivery-has-no-lease",
      "it does not say when",
      ({ delivered }) => `UPDATE fermata_webhook_deliveries SET ended_at = NULL WHERE id = '${delivered.id}'`,
    ],
    [
      "disabled-webhook-endpoint-says-since-when",
      "it does not say why",
      () => "UPDATE fermata_webhook_endpoints SET disabled_by = NULL WHERE status = 'disabled'",
    ],
    [
      "disabled-webhook-endpoint-says-since-when",
      "it is active",
      ({ endpoint }) => `UPDATE fermata_webhook_endpoints SET disabled_at = ${NOON} WHERE id = '${endpoint.id}'`,
    ],
  ] satisfies [string, string, (world: World) => string][]) {
    it(`finds a violation of "${name}" since ${what}`, async () => {
      await storage.database.write.raw(damage(world));
      const { violations } = await storage.ledger.audit();
      expect(violations.map(({ invariant }) => invariant)).to.include(name);
    });
  }

  it("reports at most 1,000 rows of one invariant", async () => {
    const jobs = Array.from({ length: 1_001 }, () => aJob({ accountId: world.account.id }));
    await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, jobs));
    const { violations } = await storage.ledger.audit();
    const rows = violations.filter((violation) => violation.invariant === "job-has-its-reservation");
    expect(rows).to.have.length(1_000);
  });
});

/** What a round of pages finds. */
async function auditedInPages({ ledger }: SqliteUnderTest, limit: number): Promise<LedgerViolation[]> {
  const violations: LedgerViolation[] = [];
  let cursor: string | null = null;
  do {
    const page: LedgerPage = await ledger.auditPage(cursor, limit);
    violations.push(...page.violations);
    cursor = page.next;
  } while (cursor !== null);
  return violations;
}

async function makeWorld(storage: SqliteUnderTest): Promise<World> {
  const account = await storage.addAccount({}, { monthly: 12, pack: 100 });
  const own = { accountId: account.id } as const;
  const end = { phase: "ended", dueAt: null, completedAt: NOON } as const;
  const queued = aJob({ ...own, reserved: { monthly: 5, pack: 0 } });
  const rendering = aJob({
    ...own,
    reserved: { monthly: 5, pack: 0 },
    status: "processing",
    phase: "rendering",
    leaseOwner: anId("prc"),
  });
  const completed = aJob({ ...own, reserved: { monthly: 2, pack: 3 }, status: "completed", ...end });
  const failed = aJob({ ...own, reserved: { monthly: 0, pack: 5 }, status: "failed", creditsCharged: 0, ...end });
  const jobs = [queued, rendering, completed, failed];
  await storage.inTransaction(async (tx) => {
    await storage.jobs.insertJobs(tx, jobs);
    await storage.library.insertTracks(tx, [aTrack({ ...own, jobId: completed.id })]);
    const records = jobs.map((job) => anIdempotencyRecord({ ...own, jobId: job.id }));
    await storage.idempotency.insertRecords(tx, records);
  });
  for (const job of jobs) await storage.apply(aReservation(await storage.balanceOf(account.id), job));
  await storage.apply(aSettlement(await storage.balanceOf(account.id), completed, "charge"));
  await storage.apply(aSettlement(await storage.balanceOf(account.id), failed, "refund"));
  return { account, queued, rendering, completed, failed, ...(await addWebhooks(storage, { completed, failed })) };
}

async function addWebhooks(
  storage: SqliteUnderTest,
  { completed, failed }: Pick<World, "completed" | "failed">,
): Promise<Pick<World, "endpoint" | "pending" | "delivered">> {
  const own = { accountId: completed.accountId } as const;
  const endpoint = anEndpoint(own);
  const disabled = anEndpoint({ ...own, status: "disabled", disabledAt: NOON, disabledBy: "user" });
  const events = [anEvent({ ...own, jobId: completed.id }), anEvent({ ...own, jobId: failed.id })] as const;
  const pending = aDelivery({ eventId: events[0].id, endpointId: endpoint.id });
  const delivered = aDelivery({
    eventId: events[1].id,
    endpointId: endpoint.id,
    state: "delivered",
    dueAt: null,
    endedAt: NOON,
  });
  const ofPing = anEvent({ ...own, jobId: null, type: "webhook.ping" });
  // Pending deliveries to an endpoint that was deleted since.
  const dropped = aDelivery({ eventId: ofPing.id, state: "dropped", dueAt: null, endedAt: NOON });
  await storage.inTransaction(async (tx) => {
    for (const one of [endpoint, disabled]) await storage.webhooks.insertEndpoint(tx, one);
    await storage.webhooks.insertEvents(tx, [...events, ofPing]);
    await storage.webhooks.insertDeliveries(tx, [pending, delivered, dropped]);
    await storage.webhooks.insertDeliveryAttempts(tx, [aDeliveryAttempt({ deliveryId: delivered.id })]);
  });
  return { endpoint, pending, delivered };
}
