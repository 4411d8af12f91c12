import { randomUUID } from "node:crypto";
import { type App, type GenerationEvent, type GrantOptions, TransactionLostError } from "fermata-music";
import type { Pool, PoolConnection, RowDataPacket } from "mysql2/promise";
import { type Fields, refusal } from "./users.js";

const MODEL = process.env["MODEL"] ?? "synth/instrumental";
const CENTS = { track: 200, stems: 100 };

/** Orders, and what Fermata makes for them: composing → ready or failed; ready → splitting → split, or ready again. */
export class Orders {
  constructor(
    private readonly db: Pool,
    private readonly fermata: App,
  ) {}

  async start(): Promise<void> {
    await this.db.query(`CREATE TABLE IF NOT EXISTS studio_orders (
      id CHAR(36) PRIMARY KEY, user_id CHAR(36) NOT NULL, created_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
      prompt TEXT CHARACTER SET utf8mb4 NOT NULL, cents INT NOT NULL, state VARCHAR(9) NOT NULL DEFAULT 'composing',
      error TEXT, job_id VARCHAR(40) NOT NULL UNIQUE, track_id VARCHAR(40), INDEX (user_id, created_at))`);
    await this.db.query("CREATE TABLE IF NOT EXISTS studio_events (id INT PRIMARY KEY, heard VARCHAR(40) NOT NULL)");
    const [[row]] = await this.db.query<RowDataPacket[]>("SELECT heard FROM studio_events");
    const after = String(row?.["heard"] ?? "0"); // what ended while this process was down is heard as well
    this.fermata.events.on("job.ended", (event) => this.hear(event), { after });
  }

  /** Newest first. */
  async list(userId: string): Promise<unknown[]> {
    const query = "SELECT * FROM studio_orders WHERE user_id = ? ORDER BY created_at DESC LIMIT 50";
    return (await this.db.execute<RowDataPacket[]>(query, [userId]))[0];
  }

  /** The account in Fermata of a user of the studio. */
  async accountOf(userId: string): Promise<string> {
    return (await this.fermata.accounts.ensure({ externalId: userId, tier: "plus", acceptTerms: true })).id;
  }

  /** The order, its credits and its generation are there together, or not at all. */
  async place(userId: string, { prompt = "", seconds }: Fields): Promise<void> {
    const [id, account] = [randomUUID(), await this.accountOf(userId)];
    const { creditCost } = (await this.fermata.models.get(MODEL)).model;
    const input = { modelId: MODEL, prompt, duration: Number(seconds) };
    await this.inTransaction(async (transaction) => {
      const isPaid = await this.buy(account, creditCost, { reference: `order ${id}`, transaction });
      const job = await this.fermata.generations.create(account, input, { key: `order ${id}`, transaction });
      const insert = "INSERT INTO studio_orders (id, user_id, prompt, cents, job_id) VALUES (?, ?, ?, ?, ?)";
      await transaction.execute(insert, [id, userId, prompt, isPaid ? CENTS.track : 0, job.id]);
    });
  }

  /** Buys the stems of a track in the same way. */
  async split(userId: string, id: string): Promise<void> {
    const [account, { creditCost }] = [await this.accountOf(userId), this.fermata.settings.stemSplit];
    await this.inTransaction(async (transaction) => {
      const lock = "SELECT * FROM studio_orders WHERE id = ? AND user_id = ? AND state = 'ready' FOR UPDATE";
      const [[order]] = await transaction.execute<RowDataPacket[]>(lock, [id, userId]);
      if (order === undefined) throw refusal(409, "This order is not there, or has gone on meanwhile.");
      const reference = `stems after ${order["job_id"]}`;
      const isPaid = await this.buy(account, creditCost, { reference, transaction });
      const track = { accountId: account, trackId: String(order["track_id"]) };
      const job = await this.fermata.splits.start({ kind: "stem_split", ...track, reference, transaction });
      const sql =
        "UPDATE studio_orders SET state = 'splitting', error = NULL, job_id = ?, cents = cents + ? WHERE id = ?";
      await transaction.execute(sql, [job.id, isPaid ? CENTS.stems : 0, id]);
    });
  }

  /** Grants what an order needs. @returns false where a failure has refunded as much: then it costs nothing */
  private async buy(account: string, credits: number, options: GrantOptions): Promise<boolean> {
    if ((await this.fermata.credits.balance(account)).pack >= credits) return false;
    await this.fermata.credits.grant(account, credits, { bucket: "pack", ...options });
    return true;
  }

  /** Writes the order's state and the cursor together. `job_id` is of what was ordered last: a track, or its stems. */
  private hear({ cursor, generation: { id, kind, tracks, error } }: GenerationEvent): Promise<void> {
    const [completed, failed] = kind === "music" ? ["ready", "failed"] : ["split", "ready"];
    const values = [error === null ? completed : failed, error?.message ?? null, tracks[0]?.id ?? null, id];
    return this.inTransaction(async (transaction) => {
      const update = "UPDATE studio_orders SET state = ?, error = ?, track_id = COALESCE(?, track_id) WHERE job_id = ?";
      await transaction.execute(update, values);
      await transaction.execute("REPLACE INTO studio_events VALUES (1, ?)", [cursor]);
    });
  }

  /** Takes back all of `work` that throws. Where it lost against another transaction, it runs again. */
  private async inTransaction(work: (transaction: PoolConnection) => Promise<void>, runs = 3): Promise<void> {
    const connection = await this.db.getConnection();
    try {
      await connection.beginTransaction();
      await work(connection);
      return await connection.commit();
    } catch (error) {
      await connection.rollback();
      if (runs === 1 || !(error instanceof TransactionLostError)) throw error;
    } finally {
      connection.release();
    }
    return this.inTransaction(work, runs - 1);
  }
}
