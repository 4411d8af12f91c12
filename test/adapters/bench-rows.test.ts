import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import { fillLedger } from "../bench/ledger.js";
import { rowsOf } from "../bench/servers/bare-parts.js";
import { sqliteStorage, type SqliteUnderTest } from "../support/databases.js";

/** The servers and fillings of the benchmarks write rows by hand: a column that goes breaks them, and no test. */
describe("Rows of the benchmarks", () => {
  let storage: SqliteUnderTest;

  beforeEach(async () => {
    storage = await sqliteStorage.open();
  });
  afterEach(() => storage.close());

  it("of a ledger of many jobs satisfy every invariant of the ledger", async () => {
    await fillLedger(storage.url, 2_000);
    expect(await storage.ledger.audit()).to.deep.equal({
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
    expect(await storage.ledger.audit()).to.deep.equal({
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
