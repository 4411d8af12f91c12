import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import { REQUEST_LOG, toRequestRow } from "../../adapters/storage/sql/usage/request-log-table.js";
import { RETAINED_KINDS } from "../../core/ports/growth-store.js";
import { openWriter } from "../bench/bulk-writer.js";
import { fillGrown, jobOf } from "../bench/growth-rows.js";
import { fillLedger } from "../bench/ledger.js";
import { VIEWER } from "../bench/search-corpus.js";
import { rowsOf } from "../bench/servers/bare-parts.js";
import { aLoggedRequest, anId, NOON } from "../support/builders.js";
import { sqliteStorage, type SqliteUnderTest } from "../support/databases.js";
import { mysqlStorage, type MysqlUnderTest } from "../support/mysql.js";

/** The servers and fillings of the benchmarks write rows by hand: a column that goes breaks them, and no test. */
describe("Rows of the benchmarks", () => {
  let storage: SqliteUnderTest;

  beforeEach(async () => {
    storage = await sqliteStorage.open();
  });
  afterEach(() => storage.close());

  it("of a ledger of many jobs satisfy every invariant of the ledger", async () => {
    await fillLedger(storage.url, 2_000);
    expect(await storage.ledger.audit()).to.deep.include({
      checked: { accounts: 1_000, entries: 5_000, jobs: 2_000 },
      violations: [],
    });
  });

  it("of a generation that the baseline accepts satisfy every invariant of the ledger", async () => {
    const { id: accountId } = await storage.addAccount({}, { monthly: 2, pack: 5 });
    const database = new BetterSqlite3(storage.url.slice("sqlite:".length));
    const balance = database.prepare("SELECT * FROM fermata_balances WHERE account_id = ?").get(accountId);
    const rows = rowsOf(
      balance as Record<string, number>,
      accountId,
      "key",
      { model_id: "scripted/beat", prompt: "rain" },
      { job: "job_1", request: "req_1" },
    );
    insert("fermata_idempotency_records", rows.record);
    insert("fermata_jobs", rows.job);
    insert("fermata_ledger_entries", rows.entry);
    const changed = Object.keys(rows.after).map((column) => `${column} = ?`);
    database
      .prepare(`UPDATE fermata_balances SET ${changed.join(", ")} WHERE account_id = ?`)
      .run(...Object.values(rows.after), accountId);
    database.close();
    expect(await storage.ledger.audit()).to.deep.include({
      checked: { accounts: 1, entries: 2, jobs: 1 },
      violations: [],
    });

    function insert(table: string, row: object): void {
      const columns = Object.keys(row);
      const marks = columns.map(() => "?").join(", ");
      database
        .prepare(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${marks})`)
        .run(...(Object.values(row) as unknown[]));
    }
  });
});

/** Texts that end a field or a row in a file that MySQL loads. */
const AWKWARD = "a\tb\nc\\d\r\\N\0e";

for (const { name, open } of [sqliteStorage, mysqlStorage])
  describe(`Rows that benchmarks write in bulk on ${name}`, () => {
    let storage: SqliteUnderTest | MysqlUnderTest;

    beforeEach(async () => {
      storage = await open();
    });
    afterEach(() => storage.close());

    it("of an installation that has run for long are those that the stores read", async () => {
      const grown = { now: NOON, jobs: 200, heavy: VIEWER, endpointId: anId("whe") };
      await storage.addAccount({ id: VIEWER });
      await fillGrown(storage.url, grown);
      const filled = ["jobs", "job_attempts", "request_log", "ledger_entries", "webhook_events", "webhook_deliveries"];
      const counts = [...filled, "tracks"].map((table) => countOf(`{${table}}`));
      expect(await Promise.all(counts)).to.deep.equal([200, 200, 200, 401, 20, 20, 20]);
      const newest = await storage.jobs.listJobs({ accountId: VIEWER, limit: 100 });
      expect(newest.map(({ id }) => id)).to.deep.equal(
        Array.from({ length: 20 }, (_, index) => jobOf(grown, 190 - 10 * index).id),
      );
      for (const job of [jobOf(grown, 190), jobOf(grown, 100)]) {
        expect((await storage.jobs.findJobs([job.id])).get(job.id)).to.deep.equal(job);
        expect((await storage.jobs.attemptsOf([job.id])).get(job.id)).to.have.length(1);
      }
      const month = { accountId: VIEWER, from: NOON - 30 * 86_400_000, to: NOON };
      expect(await storage.requestLog.count(month)).to.deep.equal({ requests: 20, failed: 4 });
      expect(await storage.webhooks.listEvents(VIEWER, 0, 10)).to.have.length(2);
      expect(await storage.jobs.listEnds(198, 10)).to.have.length(2);
      for (const kind of RETAINED_KINDS)
        expect((await storage.growth.due(kind, NOON - 400 * 86_400_000, 1)).rows).to.equal(0);
    });

    it("are as they were given, and the indexes of their tables are again as they were", async () => {
      const before = await indexes();
      const writer = await openWriter(storage.url);
      const request = toRequestRow(aLoggedRequest({ path: AWKWARD, client: null, responseBytes: 7 }));
      await writer.write(REQUEST_LOG, [request]);
      await writer.close();
      const [row] = await storage.database.all("SELECT * FROM {request_log}");
      expect(row).to.deep.include(request);
      expect(await indexes()).to.deep.equal(before);
    });

    async function countOf(table: string): Promise<number> {
      const [row] = await storage.database.all<{ readonly total: number }>(`SELECT COUNT(*) AS total FROM ${table}`);
      return row?.total ?? 0;
    }

    function indexes(): Promise<object[]> {
      return storage.database.all(
        name === "SQLite"
          ? "SELECT name, sql FROM sqlite_master WHERE type = 'index' ORDER BY name"
          : "SELECT table_name, index_name, column_name, seq_in_index, non_unique FROM information_schema.statistics " +
              "WHERE table_schema = DATABASE() ORDER BY table_name, index_name, seq_in_index",
      );
    }
  });
