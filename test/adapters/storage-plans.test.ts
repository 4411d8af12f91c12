import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import sinon from "sinon";
import { INVARIANTS } from "../../adapters/storage/knex/ledger-invariants.js";
import { aBalance, aHash, aJob, aMovement, anApiKey, anId, anIdempotencyRecord, aTrack, NOON } from "../support/builders.js";
import { sqliteStorage, type SqliteUnderTest } from "../support/databases.js";

const BIG_TABLES = [
  "accounts",
  "api_keys",
  "balances",
  "ledger_entries",
  "idempotency_records",
  "jobs",
  "job_attempts",
  "tracks",
  "track_tags",
  "track_assets",
];

/** Every operation of every store that reads or changes rows, the audit apart. */
const OPERATIONS: Readonly<Record<string, (storage: SqliteUnderTest) => Promise<unknown>>> = {
  findAccounts: ({ accounts }) => accounts.findAccounts([anId("acct")]),
  updateAccount: (storage) => storage.inTransaction((tx) => storage.accounts.updateAccount(tx, anId("acct"), { tier: "pro" })),
  findKeyHolders: ({ accounts }) => accounts.findKeyHolders([aHash()]),
  listKeys: ({ accounts }) => accounts.listKeys(anId("acct")),
  revokeKey: (storage) => storage.inTransaction((tx) => storage.accounts.revokeKey(tx, anId("key"), NOON)),
  insertKeys: (storage) => storage.inTransaction((tx) => storage.accounts.insertKeys(tx, [anApiKey()])),
  lockBalances: (storage) => storage.inTransaction((tx) => storage.ledger.lockBalances(tx, [anId("acct")])),
  findBalances: ({ ledger }) => ledger.findBalances([anId("acct")]),
  apply: (storage) => storage.apply(aMovement(aBalance(), { pack: 1 })),
  findByReference: (storage) => storage.inTransaction((tx) => storage.ledger.findByReference(tx, "order 17")),
  entriesOfJob: ({ ledger }) => ledger.entriesOfJob(anId("job")),
  listEntries: ({ ledger }) => ledger.listEntries(anId("acct"), 10),
  findRecords: (storage) => storage.inTransaction((tx) => storage.idempotency.findRecords(tx, [anIdempotencyRecord()], NOON)),
  insertRecords: (storage) => storage.inTransaction((tx) => storage.idempotency.insertRecords(tx, [anIdempotencyRecord()], NOON)),
  updateAnswer: (storage) =>
    storage.inTransaction((tx) => storage.idempotency.updateAnswer(tx, anId("acct"), aHash(), { status: 202, body: "" })),
  deleteExpired: (storage) => storage.inTransaction((tx) => storage.idempotency.deleteExpired(tx, NOON * 2, 10)),
  insertJobs: (storage) => storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [aJob()])),
  findJobs: ({ jobs }) => jobs.findJobs([anId("job")]),
  lockJobs: (storage) => storage.inTransaction((tx) => storage.jobs.lockJobs(tx, [anId("job")])),
  "listJobs of an account": ({ jobs }) => jobs.listJobs({ accountId: anId("acct"), limit: 20 }),
  "listJobs of an account and a status": ({ jobs }) => jobs.listJobs({ accountId: anId("acct"), status: "failed", limit: 20 }),
  "listJobs of a kind": ({ jobs }) => jobs.listJobs({ accountId: anId("acct"), kind: "music", limit: 20 }),
  "listJobs of all": ({ jobs }) => jobs.listJobs({ limit: 20 }),
  "listJobs of all with a status": ({ jobs }) => jobs.listJobs({ status: "queued", limit: 20 }),
  findOverdue: ({ jobs }) => jobs.findOverdue(NOON, 20),
  claimJobs: async (storage) => {
    await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [aJob({ dueAt: NOON })]));
    const claim = { providerId: "synth", phases: ["waiting", "rendering"], limit: 9, now: NOON, owner: anId("prc"), leaseUntil: NOON } as const;
    expect(await storage.jobs.claimJobs(claim)).to.have.length(1);
  },
  renewLeases: async (storage) => {
    const owner = anId("prc");
    const job = aJob({ leaseOwner: owner });
    await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [job]));
    await storage.jobs.renewLeases(owner, [job.id], NOON);
  },
  updateJobs: (storage) =>
    storage.inTransaction((tx) => storage.jobs.updateJobs(tx, [{ id: anId("job"), fence: 1, changes: { status: "failed" } }])),
  nextDueAt: ({ jobs }) => jobs.nextDueAt("synth"),
  finishAttempt: (storage) =>
    storage.inTransaction((tx) =>
      storage.jobs.finishAttempt(tx, anId("job"), 1, { endedAt: NOON, outcome: "failed", message: null, cost: null }),
    ),
  listAttempts: ({ jobs }) => jobs.listAttempts(anId("job")),
  tracksOfJobs: async (storage) => {
    const jobId = anId("job");
    await storage.inTransaction((tx) => storage.library.insertTracks(tx, [aTrack({ jobId })]));
    await storage.library.tracksOfJobs([jobId]);
  },
};

describe("SQLite query plans", () => {
  afterEach(() => {
    sinon.restore();
  });

  for (const [name, operation] of Object.entries(OPERATIONS)) {
    it(`${name} never reads a whole table`, async () => {
      const storage = await sqliteStorage.open();
      const texts = await textsOf(storage, operation);
      expect(texts).to.not.deep.equal([]);
      for (const text of texts) expect(await scannedTables(storage, text), text).to.deep.equal([]);
      await storage.close();
    });
  }

  // An index that narrows too little scans no table either, and is slow all the same.
  for (const [name, search] of [
    ["listJobs of an account", "jobs_account (account_id=? AND status=?)"],
    ["listJobs of an account and a status", "jobs_account (account_id=? AND status=?)"],
    ["findOverdue", "jobs_status (status=? AND created_at<?)"],
    ["claimJobs", "jobs_due (provider_id=? AND phase=? AND due_at<?)"],
    ["nextDueAt", "jobs_due (provider_id=? AND phase=? AND due_at>?)"],
    ["listEntries", "sqlite_autoindex_ledger_entries_1 (account_id=?)"],
  ] as const) {
    it(`${name} goes straight to ${search}`, async () => {
      const storage = await sqliteStorage.open();
      const texts = await textsOf(storage, OPERATIONS[name] as (storage: SqliteUnderTest) => Promise<unknown>);
      const plans = await Promise.all(texts.map((text) => planOf(storage, text)));
      expect(plans.flat().join("\n")).to.include(search);
      await storage.close();
    });
  }

  it("the audit joins through indexes: a query reads each table it names at most once as a whole", async () => {
    const storage = await sqliteStorage.open();
    for (const { name, query } of INVARIANTS) {
      const scanned = await scannedTables(storage, query);
      const named = scanned.filter((table, index) => scanned.indexOf(table) === index);
      expect(scanned.length, `${name}: ${scanned.join(", ")}`).to.be.at.most(named.length + (query.includes("UNION") ? 1 : 0));
      expect(await automaticIndexes(storage, query), name).to.be.at.most(1);
    }
    await storage.close();
  });

  it("finds a scan where there is one", async () => {
    const storage = await sqliteStorage.open();
    expect(await scannedTables(storage, "SELECT * FROM jobs WHERE model_id = ?")).to.deep.equal(["jobs"]);
    expect(await scannedTables(storage, "UPDATE accounts SET tier = ? WHERE name = ?")).to.deep.equal(["accounts"]);
    await storage.close();
  });
});

/** The statements that an operation prepares on a database that has seen none. */
async function textsOf(storage: SqliteUnderTest, operation: (storage: SqliteUnderTest) => Promise<unknown>): Promise<string[]> {
  const prepare = sinon.spy(BetterSqlite3.prototype, "prepare");
  await operation(storage);
  return prepare.args.map(([text]) => text).filter((text) => /^(SELECT|UPDATE|DELETE|INSERT)/i.test(text));
}

async function planOf({ database }: SqliteUnderTest, text: string): Promise<string[]> {
  const values = Array.from(text.matchAll(/\?/g), () => 1);
  const rows = await database.read.raw<{ detail: string }[]>(`EXPLAIN QUERY PLAN ${text}`, values);
  return rows.map((row) => row.detail);
}

/** The tables of which the plan reads every row, or every entry of an index. Parts of a query that were narrowed before are none. */
async function scannedTables(storage: SqliteUnderTest, text: string): Promise<string[]> {
  const aliases = new Map(Array.from(text.matchAll(/(?:FROM|JOIN)\s+(\w+)\s+(?:AS\s+)?(\w+)/gi), (match) => [match[2], match[1]]));
  const scanned: string[] = [];
  for (const detail of await planOf(storage, text)) {
    const name = /^SCAN (\w+)/.exec(detail)?.[1];
    if (name === undefined) continue;
    const table = BIG_TABLES.includes(name) ? name : aliases.get(name);
    if (table !== undefined && BIG_TABLES.includes(table)) scanned.push(table);
  }
  return scanned;
}

async function automaticIndexes(storage: SqliteUnderTest, text: string): Promise<number> {
  return (await planOf(storage, text)).filter((detail) => detail.includes("AUTOMATIC")).length;
}
