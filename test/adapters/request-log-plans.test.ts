import { expect } from "chai";
import sinon from "sinon";
import type { KnexDatabase } from "../../adapters/storage/sql/index.js";
import { COUNTED_UP_TO, countedUpTo } from "../../adapters/storage/sql/migrations/0050-request-counts.js";
import { CREDITS_SUMMED_UP_TO } from "../../adapters/storage/sql/migrations/0054-credit-sums.js";
import { KnexRequestLogStore } from "../../adapters/storage/sql/usage/request-log-store.js";
import type { Session } from "../../adapters/storage/sql/session.js";
import type { AccountId, JobId, RequestId } from "../../core/ids.js";
import type { RequestQuery } from "../../core/ports/request-log-store.js";
import { aLoggedRequest, NOON } from "../support/builders.js";
import { sqliteStorage, type SqliteUnderTest } from "../support/databases.js";
import { mysqlStorage, type MysqlUnderTest } from "../support/mysql.js";
import { type Asked, explain, type Plan } from "./explained-plans.js";

type Storage = SqliteUnderTest | MysqlUnderTest;

const ROWS = 20_000;
const ACCOUNT = idOf("acct", 3) as AccountId;
const MONTH: RequestQuery = { accountId: ACCOUNT, from: NOON, to: NOON + 30 * 86_400_000 };

const CLIENT = { client: "client 1" };
const ROUTE = { route: "/api/v1/generations" };
const STATUS = { status: 404 };

/** Every combination of filters, and its covering index. */
const FILTERS: readonly (readonly [name: string, filter: Partial<RequestQuery>, index: string])[] = [
  ["no filter", {}, "fermata_request_log_account"],
  ["a client", CLIENT, "fermata_request_log_client"],
  ["an endpoint", ROUTE, "fermata_request_log_route"],
  ["a status", STATUS, "fermata_request_log_status"],
  ["a client and an endpoint", { ...CLIENT, ...ROUTE }, "fermata_request_log_client"],
  ["a client and a status", { ...CLIENT, ...STATUS }, "fermata_request_log_client"],
  ["an endpoint and a status", { ...ROUTE, ...STATUS }, "fermata_request_log_route"],
  ["all three", { ...CLIENT, ...ROUTE, ...STATUS }, "fermata_request_log_client"],
];

for (const kind of [sqliteStorage, mysqlStorage]) {
  describe(`Plans of the request log: ${kind.name}`, () => {
    let storage: Storage;
    before(async function () {
      this.timeout(60_000);
      storage = await kind.open();
      await fill(storage);
    });
    after(() => storage.close());
    afterEach(() => sinon.restore());

    /** One that does not know yet that all is counted. */
    const fresh = (): KnexRequestLogStore => new KnexRequestLogStore(storage.database);
    const plansOf = async (work: () => Promise<unknown>): Promise<Plan[]> => {
      const asked = await askedBy(storage.database, work);
      expect(asked).to.not.deep.equal([]);
      return Promise.all(asked.map((one) => explain(storage.database, one)));
    };

    for (const [name, filter, index] of FILTERS) {
      it(`with ${name}, the newest requests are read in order from an index with all filters, then by id`, async () => {
        const behind = { createdAt: MONTH.to - 86_400_000, id: idOf("req", 3) as RequestId };
        for (const after of [null, behind]) {
          const plans = await plansOf(() => storage.requestLog.list({ ...MONTH, ...filter }, 100, after));
          const rows = plans.pop();
          expect(plans).to.not.deep.equal([]);
          for (const plan of plans)
            expect([plan.indexes, plan.covers, plan.sorts], plan.notified).to.deep.equal([[index], true, false]);
          expect(rows?.indexes, rows?.notified).to.deep.equal(["by id"]);
        }
      });

      it(`with ${name}, whole hours and days are read by the key of the counts, others by an index`, async () => {
        const cut = { from: MONTH.from + 5_000, to: MONTH.to - 7_000 };
        const [, plan] = await plansOf(() => fresh().count({ ...MONTH, ...cut, ...filter }));
        const merged = "status" in filter ? [] : ["fermata_request_log_merged"];
        const edge = [index, ...merged];
        expect(plan?.indexes, plan?.notified).to.deep.equal(["by id", "by id", "by id", ...edge, ...edge]);
        expect(plan?.covering.slice(3), plan?.notified).to.not.include(false);
        expect(plan?.sorts, plan?.notified).to.equal(false);
      });

      it(`with ${name}, requests are counted by an index only while some are in no count`, async () => {
        await storage.database.write("fermata_installation").insert({ name: COUNTED_UP_TO, value: countedUpTo(0) });
        const [, ...plans] = await plansOf(() => fresh().count({ ...MONTH, ...filter }));
        await storage.database.write("fermata_installation").where({ name: COUNTED_UP_TO }).delete();
        const counted = plans.filter(({ notified }) => notified.includes("COUNT(*)"));
        expect(counted).to.have.length(1);
        for (const plan of plans) {
          expect(plan.indexes[0], plan.notified).to.equal(index);
          expect([plan.covering.includes(false), plan.sorts], plan.notified).to.deep.equal([false, false]);
        }
      });
    }

    it("rows that are written are looked for by id, and counts that are over by age", async () => {
      const rows = [1, 2, 3].map((n) => aLoggedRequest({ id: idOf("req", n) as RequestId }));
      const [found] = await askedIn(storage, (tx) => storage.requestLog.insert(tx, rows));
      expect((await explain(storage.database, found as Asked)).indexes).to.deep.equal(["by id"]);
      const asked = await askedIn(storage, (tx) => storage.requestLog.deleteOldCounts(tx, NOON + 90_000_000, 10));
      const [old, deleted] = await Promise.all(asked.map((one) => explain(storage.database, one)));
      expect([old?.indexes, old?.covers, old?.sorts], old?.notified).to.deep.equal([
        ["fermata_request_counts_age"],
        true,
        false,
      ]);
      // The index of ages ends with the key, so that either finds the one row by all of it.
      const key = deleted?.indexes[0]?.replace("fermata_request_counts_age", "by id");
      expect(key, deleted?.notified).to.equal("by id");
      const [listed] = await plansOf(() => storage.requestLog.listCounts(ACCOUNT, 10));
      expect([listed?.indexes, listed?.sorts], listed?.notified).to.deep.equal([["by id"], false]);
    });

    it("rows that no count holds yet are read in the order of their ids", async () => {
      await storage.database
        .write("fermata_installation")
        .insert({ name: COUNTED_UP_TO, value: JSON.stringify({ id: idOf("req", 50), others: 0, isLast: false }) });
      const asked = await askedIn(storage, (tx) => storage.requestLog.countNext(tx, 0, 10));
      await storage.database.write("fermata_installation").where({ name: COUNTED_UP_TO }).delete();
      const [, next, marked] = await Promise.all(asked.map((one) => explain(storage.database, one)));
      for (const plan of [next, marked])
        expect([plan?.indexes, plan?.sorts], plan?.notified).to.deep.equal([["by id"], false]);
    });

    it("credits of whole hours are read by the key of the sums, others by indexes of the jobs", async () => {
      const cut = { from: MONTH.from + 5_000, to: MONTH.to - 7_000 };
      for (const filter of [{}, CLIENT, { kind: "music" as const }]) {
        const [, plan] = await plansOf(() => fresh().sumCredits({ ...MONTH, ...cut, ...filter }));
        const expected = ["by id", "fermata_jobs_account", "fermata_jobs_usage", "fermata_jobs_usage"];
        expect([plan?.indexes, plan?.sorts], plan?.notified).to.deep.equal([expected, false]);
      }
    });

    it("while some jobs are in no sum, used credits are read by an index, refunds by the status of jobs", async () => {
      await storage.database.write("fermata_installation").insert({ name: CREDITS_SUMMED_UP_TO, value: "{}" });
      for (const filter of [{}, CLIENT, { kind: "music" as const }]) {
        const [, refunded, used] = await plansOf(() => fresh().sumCredits({ ...MONTH, ...filter }));
        expect(refunded?.indexes, refunded?.notified).to.deep.equal(["fermata_jobs_account"]);
        expect([used?.indexes, used?.sorts], used?.notified).to.deep.equal([["fermata_jobs_usage"], false]);
        if (!("kind" in filter)) expect(used?.covers, used?.notified).to.equal(true);
      }
      await storage.database.write("fermata_installation").where({ name: CREDITS_SUMMED_UP_TO }).delete();
    });

    it("jobs that end are looked for by id, and sums that are over by age", async () => {
      const jobs = [1, 2, 3].map((n) => ({
        id: idOf("job", n) as JobId,
        fence: 9,
        changes: { status: "failed" } as const,
      }));
      const [adding] = await askedIn(storage, (tx) => storage.jobs.updateJobs(tx, jobs));
      const named = await explain(storage.database, adding as Asked);
      expect(named.indexes, named.notified).to.include("by id");
      expect(named.notified).to.not.match(/SCAN j|"j","type":"(ALL|index)"/);
      const old = await askedIn(storage, (tx) => storage.requestLog.deleteOldCredits(tx, NOON + 90_000_000, 10));
      const found = await explain(storage.database, old[0] as Asked);
      expect([found.indexes, found.covers, found.sorts], found.notified).to.deep.equal([
        ["fermata_credit_sums_age"],
        true,
        false,
      ]);
    });

    it("credits of a status are read from the rows with it to their jobs", async () => {
      for (const filter of [{}, CLIENT]) {
        const credits = (status: number): Promise<Plan[]> =>
          plansOf(() => fresh().sumCredits({ ...MONTH, ...filter, status }));
        const [[failed], [others, , accepted]] = [await credits(502), await credits(202)];
        expect(failed?.indexes, failed?.notified).to.deep.equal(["fermata_request_log_status", "fermata_jobs_usage"]);
        expect(others?.indexes, others?.notified).to.deep.equal(["fermata_request_log_status", "fermata_jobs_usage"]);
        expect(accepted?.indexes[0], accepted?.notified).to.equal("by id");
      }
    });

    it("credits of single requests are read by an index", async () => {
      const requests = [1, 2].map((n) => ({
        id: idOf("req", n) as RequestId,
        accountId: ACCOUNT,
        createdAt: NOON + n,
      }));
      for (const plan of await plansOf(() => storage.requestLog.creditsOf(requests))) {
        expect(plan.indexes, plan.notified).to.deep.equal(["fermata_jobs_usage"]);
      }
    });

    it("what happened in a span is read from one index of each table only", async () => {
      const plans = await plansOf(() => storage.activity.activityIn({ from: NOON, to: NOON + 3_600_000 }));
      expect(plans.map(({ indexes, covers }) => [...indexes, covers])).to.deep.equal([
        ["fermata_request_log_statuses", true],
        ["fermata_ledger_entries_time", true],
        ["fermata_job_attempts_ended", true],
      ]);
    });

    it("old rows are found by age, and deleted by id", async () => {
      const asked = await askedIn(storage, (tx) => storage.requestLog.deleteOld(tx, NOON + 60_000, 10));
      const [found, deleted] = await Promise.all(asked.map((one) => explain(storage.database, one)));
      expect([found?.indexes, found?.sorts], found?.notified).to.deep.equal([["fermata_request_log_statuses"], false]);
      expect(deleted?.indexes, deleted?.notified).to.deep.equal(["by id"]);
    });

    it("a statement without an index is detected", async () => {
      const plan = await explain(storage.database, {
        text: "SELECT * FROM fermata_request_log WHERE method = ? ORDER BY path",
        values: ["GET"],
      });
      expect([plan.indexes, plan.covers, plan.sorts], plan.notified).to.deep.equal([[null], false, true]);
    });
  });
}

function idOf(prefix: string, number: number): string {
  return `${prefix}_${String(number).padStart(26, "0")}`;
}

/** Requests of 20 accounts over 30 days; every tenth created a job, every tenth of those failed. */
async function fill({ database }: Storage): Promise<void> {
  const isMysql = database.dialect.name === "mysql";
  const text = (parts: readonly string[]): string => (isMysql ? `CONCAT(${parts.join(", ")})` : parts.join(" || "));
  const id = (prefix: string, number: string): string =>
    text([`'${prefix}_'`, isMysql ? `LPAD(${number}, 26, '0')` : `printf('%026d', ${number})`]);
  // 20,000 numbers, built from digits: MySQL refuses a recursion that deep by default.
  const digits =
    "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT " +
    "5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)";
  const numbers = `(SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS n
    FROM ${digits} a, ${digits} b, ${digits} c, ${digits} e, (SELECT 0 AS d UNION ALL SELECT 1) f) AS numbers`;
  const createdAt = `${NOON} + n * ${(30 * 86_400_000) / ROWS}`;
  await database.write.raw(`INSERT INTO fermata_request_log
    (id, account_id, created_at, method, path, route, status, error_code, request_bytes, response_bytes, job_id, client)
    SELECT ${id("req", "n")}, ${id("acct", "n % 20")}, ${createdAt}, 'GET', '/api/v1/credits',
      CASE n % 3 WHEN 0 THEN '/api/v1/generations' WHEN 1 THEN '/api/v1/credits' ELSE '/api/v1/me' END,
      CASE n % 7 WHEN 0 THEN 404 ELSE 200 END, NULL, NULL, 100, NULL, ${text(["'client '", "(n % 11)"])}
      FROM ${numbers}`);
  await database.write.raw(`INSERT INTO fermata_jobs
    (id, account_id, kind, operation, provider_id, model_id, request_id, requested_at, client, reserved_monthly,
    reserved_pack, credits_charged,
     status, phase, attempt, refusals, crashes, fence, created_at, request)
    SELECT ${id("job", "n")}, ${id("acct", "n % 20")}, 'music', 'music_synth_full', 'synth', 'synth/song',
    ${id("req", "n")}, ${createdAt},
      ${text(["'client '", "(n % 11)"])}, 5, 0, 5, CASE WHEN n % 19 = 0 THEN 'failed'
      ELSE 'completed' END, 'ended', 1, 0, 0, 1, ${createdAt}, '{}'
    FROM ${numbers} WHERE (n - n % 20) % 200 = 0`);
  // Enough of the others for a plan to mean something: of an empty table MySQL scans the index.
  const some = `FROM ${numbers} WHERE n < 2000`;
  const hour = `${NOON} + (n - n % 100) * 36000`;
  const client = text(["'client '", "((n - n % 20) % 100)"]);
  await database.write.raw(`INSERT INTO fermata_request_counts
    (account_id, client, span, starts_at, route, status, requests)
    SELECT ${id("acct", "n % 20")}, ${client}, 'hour', ${hour}, '/api/v1/me', 200, 1 ${some}`);
  await database.write.raw(`INSERT INTO fermata_credit_sums (account_id, client, starts_at, kind, used, refunded)
    SELECT ${id("acct", "n % 20")}, ${client}, ${hour}, 'music', 5, 0 ${some}`);
  await database.write.raw(`INSERT INTO fermata_ledger_entries
    (account_id, seq, kind, monthly, pack, reserved_monthly, reserved_pack, spent, created_at)
    SELECT ${id("acct", "n % 20")}, n, 'grant', 5, 0, 0, 0, 0, ${createdAt} ${some}`);
  await database.write.raw(`INSERT INTO fermata_job_attempts (job_id, number, id, provider_id, started_at, ended_at)
    SELECT ${id("job", "n")}, 1, ${id("att", "n")}, 'synth', ${createdAt}, ${createdAt} ${some}`);
  const tables = "{request_log}, {jobs}, {request_counts}, {credit_sums}, {ledger_entries}, {job_attempts}";
  await database.write.raw(isMysql ? database.names.in(`ANALYZE TABLE ${tables}`) : "SELECT 1");
}

/** The statements that reads outside transactions send. */
async function askedBy(database: KnexDatabase, work: () => Promise<unknown>): Promise<Asked[]> {
  const asked: Asked[] = [];
  const reading = database.reading.bind(database);
  sinon.stub(database, "reading").callsFake((ask) => reading((session) => ask(overheard(session, asked))));
  await work();
  sinon.restore();
  return asked;
}

/** The statements that one transaction sends. */
async function askedIn(storage: Storage, work: Parameters<Storage["inTransaction"]>[0]): Promise<Asked[]> {
  const asked: Asked[] = [];
  const transaction = storage.database.transaction.bind(storage.database);
  sinon
    .stub(storage.database, "transaction")
    .callsFake((inside) =>
      transaction((session) => inside(Object.assign(overheard(session, asked), { isOpen: true }))),
    );
  await storage.inTransaction(work);
  sinon.restore();
  return asked;
}

function overheard(session: Session, asked: Asked[]): Session {
  return {
    all: (text, values = []) => (asked.push({ text, values }), session.all(text, values)),
    run: (text, values = []) => (asked.push({ text, values }), session.run(text, values)),
    allEach: (text, lists) => (asked.push({ text, values: lists[0] ?? [] }), session.allEach(text, lists)),
    runEach: (text, lists) => (asked.push({ text, values: lists[0] ?? [] }), session.runEach(text, lists)),
    writeEach: (text, lists) => (asked.push({ text, values: lists[0] ?? [] }), session.writeEach(text, lists)),
    updateRows: (table, by, updates) => session.updateRows(table, by, updates),
    insert: (table, rows) => session.insert(table, rows),
    upsert: (table, rows) => session.upsert(table, rows),
    upsertSums: (table, rows) => session.upsertSums(table, rows),
  };
}
