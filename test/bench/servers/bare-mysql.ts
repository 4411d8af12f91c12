/**
 * The baseline of creates on MySQL: bare Express and mysql2, one hand-written transaction of prepared statements per
 * request.
 */
import express from "express";
import { createPool, type Pool, type PoolConnection, type ResultSetHeader, type RowDataPacket } from "mysql2/promise";
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
import { serve } from "./child.js";

type Values = (string | number | null)[];

const [, , storageUrl = ""] = process.argv;
const pool: Pool = createPool({ uri: storageUrl, connectionLimit: 12, supportBigNumbers: true });

const FIND_KEY =
  "SELECT k.account_id, k.scopes, k.revoked_at, a.terms_accepted_at FROM fermata_api_keys k " +
  "JOIN fermata_accounts a ON a.id = k.account_id WHERE k.token_hash = ?";
const LOCK_BALANCE = "SELECT * FROM fermata_balances WHERE account_id = ? FOR UPDATE";
const FIND_RECORD = "SELECT response FROM fermata_idempotency_records WHERE account_id = ? AND key_hash = ?";
const UPDATE_BALANCE =
  "UPDATE fermata_balances SET monthly = ?, pack = ?, reserved_monthly = ?, reserved_pack = ?, running_jobs = ?, " +
  "ledger_seq = ? WHERE account_id = ?";

async function insert(connection: PoolConnection, table: string, row: object): Promise<void> {
  const names = Object.keys(row);
  const text = `INSERT INTO ${table} (${names.join()}) VALUES (${names.map(() => "?").join()})`;
  await connection.execute<ResultSetHeader>(text, Object.values(row) as Values);
}

async function create(accountId: string, keyHash: string, order: BareOrder): Promise<string | null> {
  const connection = await pool.getConnection();
  try {
    await connection.query("START TRANSACTION");
    const [[record]] = await connection.execute<RowDataPacket[]>(FIND_RECORD, [accountId, keyHash]);
    const [[found]] = await connection.execute<RowDataPacket[]>(LOCK_BALANCE, [accountId]);
    const balance = (found ?? {}) as Readonly<Record<string, number>>;
    const isPayable = (balance["monthly"] ?? 0) + (balance["pack"] ?? 0) >= COST;
    if (record !== undefined || !isPayable) {
      await connection.query("ROLLBACK");
      return record === undefined ? null : String(record["response"]);
    }
    const ids = { job: `job_${ulid().toLowerCase()}`, request: `req_${ulid().toLowerCase()}` };
    const rows = rowsOf(balance, accountId, keyHash, order, ids);
    await insert(connection, "fermata_idempotency_records", rows.record);
    await insert(connection, "fermata_jobs", rows.job);
    await insert(connection, "fermata_ledger_entries", rows.entry);
    await connection.execute<ResultSetHeader>(UPDATE_BALANCE, [...Object.values(rows.after), accountId]);
    await connection.query("COMMIT");
    return rows.response;
  } finally {
    connection.release();
  }
}

const keys = new BareKeys(async (hash) => {
  const [[holder]] = await pool.execute<RowDataPacket[]>(FIND_KEY, [hash]);
  return holder as BareHolder | undefined;
});
const app = bareExpress();
app.post("/api/v1/generations", express.json(), async (request, response) => {
  const holder = await keys.holderOf(request.headers.authorization, "generations:create");
  if (holder === null) return void response.status(401).json({ error: "key" });
  const result = await create(
    holder.account_id,
    sha256(request.get("idempotency-key") ?? ""),
    request.body as BareOrder,
  );
  if (result === null) return void response.status(402).json({ error: "credits" });
  response.status(202).type("json").send(result);
});
serve(await listenFast(app), () => pool.end());
