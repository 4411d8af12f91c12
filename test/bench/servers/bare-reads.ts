/**
 * Baselines of reads on MySQL: bare Express, alone (`/hello`), with one prepared read by the primary key
 * (`/balance/ID`), and with one indexed read of 20 narrow rows (`/jobs/ID`).
 */
import { createPool, type RowDataPacket } from "mysql2/promise";
import { bareExpress, listenFast } from "./bare-parts.js";
import { serve } from "./child.js";

const [, , storageUrl = ""] = process.argv;
const pool = createPool({ uri: storageUrl, connectionLimit: 12 });

const BALANCE = "SELECT monthly, pack, spent FROM fermata_balances WHERE account_id = ?";
const JOBS =
  "SELECT id, status, model_id, credits_charged, created_at, completed_at FROM fermata_jobs " +
  "WHERE account_id = ? AND status = 'completed' ORDER BY created_at DESC, id DESC LIMIT 20";

const app = bareExpress();
app.get("/hello", (_request, response) => void response.json({ data: "hello" }));
app.get("/balance/:id", async (request, response) => {
  const [[row]] = await pool.execute<RowDataPacket[]>(BALANCE, [request.params.id]);
  response.json({ data: row });
});
app.get("/jobs/:id", async (request, response) => {
  const [rows] = await pool.execute<RowDataPacket[]>(JOBS, [request.params.id]);
  response.json({ data: rows });
});
serve(await listenFast(app), () => pool.end());
