import { expect } from "chai";
import { ServiceUnavailableError } from "../../../core/errors.js";
import type { JobId } from "../../../core/ids.js";
import { aLoggedRequest, anId, anIdempotencyRecord, NOON } from "../../support/builders.js";
import { anEvent } from "../../support/webhook-builders.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { until, type Worker, WorkerHarness } from "./worker-harness.js";

const DEADLINE_MS = 60_000;
const HOUR_MS = 3_600_000;
const OLD = NOON - 90 * 86_400_000;
/** The column with the age of a row, where it is not `created_at`. */
const COLUMNS: Readonly<Record<string, string>> = {
  fermata_idempotency_records: "expires_at",
  fermata_request_counts: "starts_at",
  fermata_credit_sums: "starts_at",
};

describe("Maintenance when something fails", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  /** A process whose storage fails whenever one of these jobs is written. */
  function processThatCannotSettle(broken: readonly JobId[], error: Error): Worker {
    const jobs = new FaultyPort(harness.storage.jobs).on("updateJobs", (update, tx, updates) =>
      updates.some(({ id }) => broken.includes(id)) ? Promise.reject(error) : update(tx, updates),
    );
    return harness.prepare({ deadlineMs: DEADLINE_MS, stores: { jobs } });
  }

  /** Expired rows, one of each kind. */
  async function addOldRows(): Promise<void> {
    const { inTransaction, idempotency, requestLog, webhooks, database } = harness.storage;
    await inTransaction(async (tx) => {
      await idempotency.insertRecords(tx, [anIdempotencyRecord({ createdAt: OLD })]);
      await requestLog.insert(tx, [aLoggedRequest({ createdAt: OLD })]);
      await webhooks.insertEvents(tx, [anEvent({ createdAt: OLD })]);
    });
    const credits = { starts_at: OLD - (OLD % HOUR_MS), kind: "music", used: 5, refunded: 0 };
    await database.write("fermata_credit_sums").insert({ account_id: anId("acct"), client: "*", ...credits });
  }

  async function oldRows(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const table of Object.keys(NONE_LEFT)) {
      const column = COLUMNS[table] ?? "created_at";
      counts[table] = (await harness.storage.database.read(table).where(column, "<", OLD + 86_400_001)).length;
    }
    return counts;
  }

  const NONE_LEFT = {
    fermata_idempotency_records: 0,
    fermata_request_log: 0,
    fermata_request_counts: 0,
    fermata_credit_sums: 0,
    fermata_webhook_events: 0,
  };
  const statuses = async (ids: readonly JobId[]): Promise<string[]> =>
    Promise.all(ids.map(async (id) => (await harness.job(id)).status));
  const errors = (): unknown[] =>
    harness.logger.lines
      .filter(({ level }) => level === "error")
      .map(({ fields }) => [fields["task"], fields["job_id"] ?? null]);

  for (const [what, error] of [
    ["a fault of its own", new Error("scripted: its row is damaged")],
    ["what passes for an outage", new ServiceUnavailableError("scripted: its row is locked")],
  ] as const) {
    it(`settles the other jobs when one cannot be settled for ${what}`, async () => {
      const [broken, ...others] = (await harness.accept(4)).map(({ id }) => id) as [JobId, ...JobId[]];
      await addOldRows();
      const { maintenance } = processThatCannotSettle([broken], error);
      await harness.clock.advance(DEADLINE_MS + 1);
      await maintenance.runOnce();
      expect(await statuses([broken, ...others])).to.deep.equal(["queued", "failed", "failed", "failed"]);
      for (const id of others) await harness.expectFailed(id, "provider_unavailable");
      expect(await oldRows()).to.deep.equal(NONE_LEFT);
      expect(errors()).to.deep.equal([["end-overdue-jobs", broken]]);
      // It is retried, and ends as soon as possible.
      await harness.prepare({ deadlineMs: DEADLINE_MS }).maintenance.runOnce();
      await harness.expectFailed(broken, "provider_unavailable");
    });
  }

  it("settles younger jobs when a whole batch of older ones cannot be settled", async () => {
    const broken = (await harness.accept(201)).map(({ id }) => id);
    await harness.clock.advance(1);
    const younger = await harness.acceptOne();
    await harness.clock.advance(DEADLINE_MS + 1);
    await processThatCannotSettle(broken, new Error("scripted: its row is damaged")).maintenance.runOnce();
    await harness.expectFailed(younger, "provider_unavailable");
    expect(errors()).to.have.length(201);
  });

  it("logs an outage of the storage once for each task, not for each job", async () => {
    await harness.accept(20);
    const jobs = new FaultyPort(harness.storage.jobs);
    for (const method of ["updateJobs", "findJobs"] as const)
      jobs.failOn(method, () => new ServiceUnavailableError("scripted: unavailable"));
    const stores = { jobs: jobs.port };
    await harness.clock.advance(DEADLINE_MS + 1);
    await harness.prepare({ deadlineMs: DEADLINE_MS, stores }).maintenance.runOnce();
    expect(errors()).to.deep.equal([["end-overdue-jobs", null]]);
  });

  it("runs the other tasks on schedule when one fails", async () => {
    const id = await harness.acceptOne();
    await addOldRows();
    const requestLog = new FaultyPort(harness.storage.requestLog);
    const damaged = (): Error => new Error("scripted: the table is damaged");
    const stores = { requestLog: requestLog.failOn("deleteOld", damaged) };
    const { maintenance } = harness.prepare({ deadlineMs: DEADLINE_MS, stores });
    maintenance.start();
    const ended = until("the job is ended", async () => (await harness.job(id)).status === "failed");
    await harness.clock.advance(DEADLINE_MS + 10_000);
    await ended;
    await maintenance.stop();
    expect(await oldRows()).to.deep.equal({ ...NONE_LEFT, fermata_request_log: 1 });
    expect(errors()).to.deep.include(["delete-request-log", null]);
  });
});
