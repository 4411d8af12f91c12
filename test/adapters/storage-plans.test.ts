import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import sinon from "sinon";
import { createStores, openDatabase } from "../../adapters/storage/sql/index.js";
import { INVARIANTS } from "../../adapters/storage/sql/ledger/ledger-invariants.js";
import { SILENT, sqliteStorage, type SqliteUnderTest, TEST_PORTS } from "../support/databases.js";
import { storageUnderTest } from "../support/storage-under-test.js";
import type { KnownRows } from "./known-rows.js";
import { BIG_TABLES, fillStorage, OPERATIONS } from "./storage-operations.js";

const JOBS = 20;

describe("SQLite query plans", () => {
  afterEach(() => {
    sinon.restore();
  });

  for (const name of Object.keys(OPERATIONS)) {
    it(`${name} never scans a table`, async () => {
      const storage = await sqliteStorage.open();
      const texts = await textsOf(storage, name);
      expect(texts).to.not.deep.equal([]);
      for (const text of texts) expect(await scannedTables(storage, text), text).to.deep.equal([]);
      await storage.close();
    });
  }

  // An index that selects too many rows is no full scan, but just as slow.
  for (const [name, search] of [
    ["listJobs of an account", "jobs_account (account_id=? AND status=?)"],
    ["listJobs of an account and a status", "jobs_account (account_id=? AND status=?)"],
    ["listJobs of a kind, behind another job", "jobs_account (account_id=? AND status=? AND created_at<?)"],
    [
      "listJobs of a provider and a status, behind another job",
      "jobs_provider (provider_id=? AND status=? AND created_at<?)",
    ],
    ["listShownJobs", "jobs_listed (account_id=? AND kind=?)"],
    ["newestShownStates", "jobs_listed (account_id=? AND kind=?)"],
    ["listShownJobs behind another job", "jobs_listed (account_id=? AND kind=? AND created_at<?)"],
    ["findByReferences", "jobs_reference (account_id=? AND reference=?)"],
    ["findOverdue", "jobs_status (status=? AND created_at<?)"],
    ["claimJobs", "jobs_due (provider_id=? AND phase=? AND due_at>? AND due_at<?)"],
    ["nextDueAt", "jobs_due (provider_id=? AND phase=? AND due_at>?)"],
    ["waitingSince", "jobs_due (provider_id=? AND phase=? AND due_at>?)"],
    ["claimCancels", "job_attempts_cancel (provider_id=? AND cancel_due_at<?)"],
    ["findOverdueAttempts", "job_attempts_deadline (deadline_at<?)"],
    ["numberEnds", "jobs_ends (end_number=? AND completed_at>?)"],
    ["listEnds behind many", "jobs_ends (end_number>?"],
    ["endNumberBefore", "jobs_ends (end_number>?"],
    ["renderTimes", "job_attempts_renders (provider_id=? AND model_id=?"],
    ["countWork", "jobs_due (provider_id=? AND phase=?"],
    ["unread callbacks", "provider_callbacks_digest (job_id=?)"],
    ["old callbacks", "provider_callbacks_received (received_at<?)"],
    ["activityIn", "job_attempts_ended (ended_at>? AND ended_at<?)"],
    ["endedJobs", "jobs_account (account_id=? AND status=? AND created_at>?)"],
    ["listTracks", "tracks_account (account_id=? AND id>?)"],
    ["liveJobFrom", "job_sources_track (track_id=?)"],
    ["deleteSplitOutputs", "job_sources_track (track_id=?)"],
    ["dueFiles", "file_deletions_due (due_at<?)"],
    ["eraseRows of every kind", "webhook_events_numbers (account_id=?)"],
    ["deleteRequests", "jobs_status (status=? AND created_at>? AND created_at<?)"],
    ["deleteAttempts", "job_attempts_ended (ended_at<?)"],
    ["due of every kind", "webhook_events_age (created_at<?)"],
    ["due of every kind", "idempotency_records_expiry (expires_at<?)"],
    ["due of every kind", "provider_callbacks_received (received_at<?)"],
    ["due of every kind", "request_log_statuses (created_at<?)"],
    ["due of every kind", "jobs_status (status=? AND created_at>? AND created_at<?)"],
    ["due of every kind", "job_attempts_ended (ended_at<?)"],
    ["claimDeletion", "account_deletions_due (due_at<?)"],
    ["listEntries", "sqlite_autoindex_fermata_ledger_entries_1 (account_id=? AND seq<?)"],
  ] as const) {
    it(`${name} uses ${search}`, async () => {
      const storage = await sqliteStorage.open();
      const texts = await textsOf(storage, name);
      const plans = await Promise.all(texts.map((text) => planOf(storage, text)));
      expect(plans.flat().join("\n")).to.include(search);
      await storage.close();
    });
  }

  it("the audit joins by indexes: a query scans each of its tables at most once", async () => {
    const storage = await sqliteStorage.open();
    for (const { name, query } of INVARIANTS) {
      const scanned = await scannedTables(storage, storage.database.names.in(query));
      const named = scanned.filter((table, index) => scanned.indexOf(table) === index);
      expect(scanned.length, `${name}: ${scanned.join(", ")}`).to.be.at.most(
        named.length + (query.includes("UNION") ? 1 : 0),
      );
      expect(await automaticIndexes(storage, storage.database.names.in(query)), name).to.be.at.most(1);
    }
    await storage.close();
  });

  it("detects a scan", async () => {
    const storage = await sqliteStorage.open();
    expect(await scannedTables(storage, "SELECT * FROM fermata_jobs WHERE model_id = ?")).to.deep.equal([
      "fermata_jobs",
    ]);
    expect(await scannedTables(storage, "UPDATE fermata_accounts SET tier = ? WHERE name = ?")).to.deep.equal([
      "fermata_accounts",
    ]);
    await storage.close();
  });
});

/** The statements that an operation prepares on a new connection. */
async function textsOf(storage: SqliteUnderTest, name: string): Promise<string[]> {
  const known = await fill(storage);
  const prepare = sinon.spy(BetterSqlite3.prototype, "prepare");
  await OPERATIONS[name]?.(storage, known);
  return prepare.args.map(([text]) => text).filter((text) => /^(SELECT|UPDATE|DELETE|INSERT)/i.test(text));
}

async function fill({ url }: SqliteUnderTest): Promise<KnownRows> {
  const database = await openDatabase({ url, logger: SILENT });
  try {
    return await fillStorage(storageUnderTest(createStores(database, TEST_PORTS)), JOBS);
  } finally {
    await database.close();
  }
}

async function planOf({ database }: SqliteUnderTest, text: string): Promise<string[]> {
  const values = Array.from(text.matchAll(/\?/g), () => 1);
  const rows = await database.read.raw<{ detail: string }[]>(`EXPLAIN QUERY PLAN ${text}`, values);
  return rows.map((row) => row.detail);
}

/** The tables of which the plan reads every row, or every entry of an index. Derived tables are not counted. */
async function scannedTables(storage: SqliteUnderTest, text: string): Promise<string[]> {
  const aliases = new Map(
    Array.from(text.matchAll(/(?:FROM|JOIN)\s+(\w+)\s+(?:AS\s+)?(\w+)/gi), (match) => [match[2], match[1]]),
  );
  const scanned: string[] = [];
  for (const detail of await planOf(storage, text)) {
    const name = /^SCAN (\w+)/.exec(detail)?.[1];
    if (name === undefined) continue;
    const table = aliases.get(name) ?? name;
    if (BIG_TABLES.includes(table)) scanned.push(table);
  }
  return scanned;
}

async function automaticIndexes(storage: SqliteUnderTest, text: string): Promise<number> {
  return (await planOf(storage, text)).filter((detail) => detail.includes("AUTOMATIC")).length;
}
