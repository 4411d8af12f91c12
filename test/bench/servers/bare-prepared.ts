/**
 * The baseline again, as fast as one transaction per request can be: prepared statements of better-sqlite3, without
 * knex.
 */
import { join } from "node:path";
import Database from "better-sqlite3";
import express from "express";
import { ulid } from "ulid";
import {
  bareExpress,
  type BareHolder,
  BareKeys,
  type BareOrder,
  COST,
  listenFast,
  rowsOf,
  sha256,
} from "./bare-parts.js";
import { DATABASE_FILE, serve } from "./child.js";

const [, , dataDir = ""] = process.argv;
const db = new Database(join(dataDir, DATABASE_FILE));
db.pragma("journal_mode = WAL");
db.pragma("synchronous = FULL");

const findKey = db.prepare<[string], BareHolder>(
  "SELECT k.account_id, k.scopes, k.revoked_at, a.terms_accepted_at FROM fermata_api_keys k " +
    "JOIN fermata_accounts a ON a.id = k.account_id WHERE k.token_hash = ?",
);
const findBalance = db.prepare<[string], Record<string, number>>("SELECT * FROM fermata_balances WHERE account_id = ?");
const findRecord = db.prepare<[string, string], { response: string }>(
  "SELECT response FROM fermata_idempotency_records WHERE account_id = ? AND key_hash = ?",
);
const updateBalance = db.prepare(
  "UPDATE fermata_balances SET monthly = @monthly, pack = @pack, reserved_monthly = @reserved_monthly, " +
    "reserved_pack = @reserved_pack, running_jobs = @running_jobs, ledger_seq = @ledger_seq " +
    "WHERE account_id = @account_id",
);
const inserts = new Map<string, Database.Statement>();

function insert(table: string, row: object): void {
  let statement = inserts.get(table);
  if (statement === undefined) {
    const names = Object.keys(row);
    statement = db.prepare(`INSERT INTO ${table} (${names.join()}) VALUES (${names.map((name) => `@${name}`).join()})`);
    inserts.set(table, statement);
  }
  statement.run(row);
}

const create = db.transaction((accountId: string, keyHash: string, order: BareOrder): string | null => {
  const record = findRecord.get(accountId, keyHash);
  if (record !== undefined) return record.response;
  const balance = findBalance.get(accountId) ?? {};
  if ((balance["monthly"] ?? 0) + (balance["pack"] ?? 0) < COST) return null;
  const ids = { job: `job_${ulid().toLowerCase()}`, request: `req_${ulid().toLowerCase()}` };
  const rows = rowsOf(balance, accountId, keyHash, order, ids);
  insert("fermata_idempotency_records", rows.record);
  insert("fermata_jobs", rows.job);
  insert("fermata_ledger_entries", rows.entry);
  updateBalance.run({ ...rows.after, account_id: accountId });
  return rows.response;
});

const keys = new BareKeys((hash) => findKey.get(hash));
const app = bareExpress();
app.get("/api/v1/credits", async (request, response) => {
  const holder = await keys.holderOf(request.headers.authorization, "credits:read");
  if (holder === null) return void response.status(401).json({ error: "key" });
  const { monthly = 0, pack = 0, spent = 0 } = findBalance.get(holder.account_id) ?? {};
  response.json({
    data: { available: monthly + pack, monthly_credits: monthly, pack_credits: pack, total_spent: spent },
  });
});
app.post("/api/v1/generations", express.json(), async (request, response) => {
  const holder = await keys.holderOf(request.headers.authorization, "generations:create");
  if (holder === null) return void response.status(401).json({ error: "key" });
  const result = create.immediate(
    holder.account_id,
    sha256(request.get("idempotency-key") ?? ""),
    request.body as BareOrder,
  );
  if (result === null) return void response.status(402).json({ error: "credits" });
  response.status(202).type("json").send(result);
});
serve(await listenFast(app), async () => void db.close());
