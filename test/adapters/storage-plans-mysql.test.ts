import { expect } from "chai";
import sinon from "sinon";
import { TABLE_PREFIX } from "../../adapters/storage/sql/index.js";
import { MysqlSession } from "../../adapters/storage/sql/mysql/session.js";
import type { Session, SqlValue } from "../../adapters/storage/sql/session.js";
import { anId, NOON } from "../support/builders.js";
import { mysqlStorage, type MysqlUnderTest } from "../support/mysql.js";
import type { KnownRows } from "./known-rows.js";
import { BIG_TABLES, fillStorage, OPERATIONS } from "./storage-operations.js";

const JOBS = 2_000;
/** More rows than a list or a batch has are never sorted, and never read to find a few. */
const FEW_ROWS = 400;

/** A statement of an operation. */
interface Asked {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** A row of EXPLAIN. */
interface PlanRow {
  /** The table, or the alias it has in the statement. */
  readonly table: string | null;
  readonly type: string | null;
  readonly key: string | null;
  /** MariaDB returns it as text. */
  readonly rows: number | string | null;
  readonly Extra: string | null;
}

/** In a partition that has one item the engine takes either index of the table: both find that one. */
const ONE_ITEM = "fermata_search_items_slot";

/** How MariaDB and MySQL say that a row that was looked for by a whole key is not there. */
const NOTHING_THERE: ReadonlySet<string> = new Set([
  "Impossible WHERE noticed after reading const tables",
  "no matching row in const table",
]);

describe("MySQL query plans", function () {
  this.timeout(60_000);

  let storage: MysqlUnderTest;
  let known: KnownRows;
  before(async () => {
    storage = await mysqlStorage.open();
    known = await fillStorage(storage, JOBS);
    await fillOthers(storage, known.account.id);
    for (const table of BIG_TABLES) await storage.database.reading((session) => session.all(`ANALYZE TABLE ${table}`));
  });
  after(() => storage.close());
  afterEach(() => sinon.restore());

  /** The statements of an operation, except inserts. */
  async function askedBy(name: string): Promise<Asked[]> {
    const { prototype } = MysqlSession;
    const single = (["all", "run"] as const).map((method) => sinon.spy(prototype, method));
    const each = (["allEach", "runEach", "writeEach"] as const).map((method) => sinon.spy(prototype, method));
    await OPERATIONS[name]?.(storage, known);
    const asked = [
      ...single.flatMap(({ args }) => args.map(([text, values = []]) => ({ text, values }))),
      ...each.flatMap(({ args }) => args.flatMap(([text, lists]) => lists.map((values) => ({ text, values })))),
    ];
    sinon.restore();
    const written = asked.map(({ text, values }) => ({ text: storage.database.names.in(text), values }));
    return written.filter(({ text }) => /^(\(?SELECT|UPDATE|DELETE)/.test(text));
  }

  const planOf = ({ text, values }: Asked): Promise<PlanRow[]> =>
    storage.database.reading((session) => session.all<PlanRow>(`EXPLAIN FORMAT=TRADITIONAL ${text}`, values));

  const notified = ({ text }: Asked, plan: readonly PlanRow[]): string =>
    [text, ...plan.map((row) => JSON.stringify(row))].join("\n");

  for (const name of Object.keys(OPERATIONS)) {
    it(`${name} uses indexes, sorts few rows and reads few`, async () => {
      for (const asked of await askedBy(name)) {
        const plan = await planOf(asked);
        expect(scannedTables(asked, plan), notified(asked, plan)).to.deep.equal([]);
        const sorted = plan.filter(({ Extra }) => /filesort|temporary/.test(Extra ?? ""));
        for (const { rows } of sorted) expect(Number(rows), notified(asked, plan)).to.be.below(FEW_ROWS);
        // The balances are compared with the live jobs of their accounts, which are half of all here.
        const rowsMax = /^auditPage of (new )?balances$/.test(name) ? JOBS : FEW_ROWS;
        if (isRead(asked)) expect(await rowsReadBy(storage, asked), asked.text).to.be.below(rowsMax);
      }
    });
  }

  it("statements that change or lock rows find them by primary key: locks are taken in one order", async () => {
    for (const name of Object.keys(OPERATIONS)) {
      for (const asked of await askedBy(name)) {
        if (isRead(asked) && !asked.text.endsWith(" FOR UPDATE")) continue;
        const plan = await planOf(asked);
        // Of a row that is not there the plan names no key any more: it was looked up by a whole one.
        if (plan.every(({ Extra }) => NOTHING_THERE.has(Extra ?? ""))) continue;
        expect(
          plan.map(({ key, rows }) => (key === ONE_ITEM && rows === "1" ? "PRIMARY" : key)),
          notified(asked, plan),
        ).to.deep.equal(["PRIMARY"]);
      }
    }
  });

  // An index that selects too many rows is no full scan, but just as slow.
  for (const [name, index] of [
    ["listJobs of an account", "fermata_jobs_account"],
    ["listJobs of an account and a status", "fermata_jobs_account"],
    ["listJobs of a kind, behind another job", "fermata_jobs_account"],
    ["listShownJobs", "fermata_jobs_listed"],
    ["newestShownStates", "fermata_jobs_listed"],
    ["listShownJobs behind another job", "fermata_jobs_listed"],
    ["listJobs of all", "fermata_jobs_status"],
    ["findOverdue", "fermata_jobs_status"],
    ["claimJobs", "fermata_jobs_due"],
    ["nextDueAt", "fermata_jobs_due"],
    ["numberEnds", "fermata_jobs_ends"],
    ["listEntries", "PRIMARY"],
    ["findKeyHolders", "fermata_api_keys_token_hash"],
    ["deleteAttempts", "fermata_job_attempts_ended"],
    ["deleteExpired", "fermata_idempotency_records_expiry"],
  ] as const) {
    it(`${name} uses ${index}`, async () => {
      const [asked] = await askedBy(name);
      if (asked === undefined) expect.fail("It asks something.");
      expect((await planOf(asked)).map(({ key }) => key)).to.include(index);
    });
  }

  it("claimJobs reads from what is due first, not from the beginning of the phase", async () => {
    const [asked] = await askedBy("claimJobs");
    if (asked === undefined) expect.fail("It asks something.");
    const plan = await planOf(asked);
    expect(
      plan.map(({ key, type }) => [key, type]),
      notified(asked, plan),
    ).to.deep.equal([["fermata_jobs_due", "range"]]);
  });

  it("detects a scan, a sort and many rows read", async () => {
    const scan = {
      text: "SELECT j.id FROM fermata_jobs j WHERE j.model_id = ? ORDER BY j.model_id, j.created_at",
      values: ["synth/v1"],
    };
    const plan = await planOf(scan);
    expect(scannedTables(scan, plan)).to.deep.equal(["fermata_jobs"]);
    expect(plan[0]?.Extra).to.include("filesort");
    const wholeIndex = { text: "SELECT COUNT(*) AS total FROM fermata_jobs WHERE status = ?", values: ["completed"] };
    expect(await rowsReadBy(storage, wholeIndex)).to.be.above(FEW_ROWS);
  });
});

/** What no operation of the fill writes: of an empty table MySQL scans the index, however many rows it may get. */
async function fillOthers({ database }: MysqlUnderTest, accountId: string): Promise<void> {
  const of = Array.from({ length: JOBS }, (_, index) => ({ account_id: `${accountId}${index}`, at: NOON + index }));
  const sums = { monthly: 1, pack: 0, reserved_monthly: 0, reserved_pack: 0, spent: 0, checksum: "0".repeat(64) };
  const rows: Readonly<Record<string, readonly object[]>> = {
    file_deletions: of.map(({ at }) => ({ audio_key: `job/${at}/0-mix.wav`, due_at: at })),
    ledger_openings: of.map(({ account_id, at }) => ({ account_id, ...sums, entries: 1, last_seq: 1, last_at: at })),
    ledger_checkpoints: of.map(({ account_id }) => ({ account_id, ...sums, seq: 1 })),
    provider_callbacks: of.map(({ at }) => ({
      ...{ id: `cb_${at}`, job_id: anId("job"), provider_id: "synth", digest: "0".repeat(64), received_at: at },
      ...{ headers: "{}", query: "{}", body: "" },
    })),
    webhook_events: of.map(({ account_id, at }) => ({
      ...{ id: anId("evt"), account_id, type: "generation.completed", created_at: at, body: "{}" },
    })),
  };
  for (const [table, all] of Object.entries(rows)) await database.write(`${TABLE_PREFIX}${table}`).insert(all);
}

/** Of one query, or of several that are read together. */
function isRead({ text }: Asked): boolean {
  return /^\(?SELECT/.test(text);
}

/** The large tables of which the plan reads every row, or every entry of an index, not only the first few of it. */
function scannedTables({ text }: Asked, plan: readonly PlanRow[]): string[] {
  const aliases = new Map(
    Array.from(text.matchAll(/(?:FROM|JOIN)\s+(\w+)\s+(?:AS\s+)?(\w+)/gi), (match) => [match[2], match[1]]),
  );
  const named = plan
    .filter(({ type, rows }) => type === "ALL" || (type === "index" && Number(rows) >= FEW_ROWS))
    .map(({ table }) => aliases.get(table ?? "") ?? table ?? "");
  return named.filter((table) => BIG_TABLES.includes(table));
}

/** How many index entries the server read, without its temporary tables. */
function rowsReadBy({ database }: MysqlUnderTest, { text, values }: Asked): Promise<number> {
  return database.transaction(async (session) => {
    const before = await indexReads(session);
    await session.all(text, values);
    return (await indexReads(session)) - before;
  });
}

async function indexReads(session: Session): Promise<number> {
  const counters = await session.all<{ Variable_name: string; Value: string }>(
    "SHOW SESSION STATUS LIKE 'Handler_read_%'",
  );
  const ofIndexes = counters.filter(({ Variable_name }) => /_(first|key|last|next|prev)$/i.test(Variable_name));
  return ofIndexes.reduce((sum, { Value }) => sum + Number(Value), 0);
}
