/**
 * The baseline: bare Express over knex and better-sqlite3, written as by hand, on the schema of Fermata. A create is
 * one transaction with idempotency record, job, ledger entry and balance.
 */
import { join } from "node:path";
import express from "express";
import knex from "knex";
import { ulid } from "ulid";
import { SqliteClient } from "../../../adapters/storage/sql/sqlite/client.js";
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
const db = knex({
  client: SqliteClient, // begins IMMEDIATE
  connection: { filename: join(dataDir, DATABASE_FILE) },
  useNullAsDefault: true,
  pool: {
    min: 1,
    max: 1,
    afterCreate(connection: { pragma(text: string): void }, done: (error: null, connection: unknown) => void) {
      for (const pragma of ["journal_mode = WAL", "synchronous = FULL"]) connection.pragma(pragma);
      done(null, connection);
    },
  },
});
const keys = new BareKeys((hash) =>
  db("fermata_api_keys as api_keys")
    .join("fermata_accounts as accounts", "accounts.id", "api_keys.account_id")
    .where("token_hash", hash)
    .first<BareHolder>("account_id", "scopes", "revoked_at", "terms_accepted_at"),
);

const app = bareExpress();
app.get("/api/v1/credits", async (request, response) => {
  const holder = await keys.holderOf(request.headers.authorization, "credits:read");
  if (holder === null) return void response.status(401).json({ error: "key" });
  const { monthly, pack, spent } = await db("fermata_balances")
    .where("account_id", holder.account_id)
    .first<Record<string, number>>("monthly", "pack", "spent");
  response.json({
    data: { available: (monthly ?? 0) + (pack ?? 0), monthly_credits: monthly, pack_credits: pack, total_spent: spent },
  });
});
app.post("/api/v1/generations", express.json(), async (request, response) => {
  const holder = await keys.holderOf(request.headers.authorization, "generations:create");
  if (holder === null) return void response.status(401).json({ error: "key" });
  const accountId = holder.account_id;
  const keyHash = sha256(request.get("idempotency-key") ?? "");
  const order = request.body as BareOrder;
  const ids = { job: `job_${ulid().toLowerCase()}`, request: `req_${ulid().toLowerCase()}` };
  const result = await db.transaction(async (tx) => {
    const record = await tx("fermata_idempotency_records")
      .where({ account_id: accountId, key_hash: keyHash })
      .first<{ response: string } | undefined>("response");
    if (record !== undefined) return record.response;
    const balance = await tx("fermata_balances").where("account_id", accountId).first<Record<string, number>>();
    if ((balance["monthly"] ?? 0) + (balance["pack"] ?? 0) < COST) return null;
    const rows = rowsOf(balance, accountId, keyHash, order, ids);
    await tx("fermata_idempotency_records").insert(rows.record);
    await tx("fermata_jobs").insert(rows.job);
    await tx("fermata_ledger_entries").insert(rows.entry);
    await tx("fermata_balances").where("account_id", accountId).update(rows.after);
    return rows.response;
  });
  if (result === null) return void response.status(402).json({ error: "credits" });
  response.status(202).type("json").send(result);
});
serve(await listenFast(app), () => db.destroy());
