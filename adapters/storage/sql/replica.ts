import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../../core/ports/logger.js";
import type { KnexDatabase } from "./database.js";
import type { Session, Table } from "./session.js";

/** Reads outside transactions: of a database, or of its replica while that is fresh. */
export interface Reads {
  /** @throws {ServiceUnavailableError} the storage cannot be reached */
  reading<T>(work: (session: Session) => Promise<T>): Promise<T>;
}

export interface ReplicaOptions {
  readonly primary: KnexDatabase;
  /** Called until it succeeds, and again after the replica was lost. */
  open(): Promise<KnexDatabase>;
  /** How much older than the primary a read may be. */
  readonly lagMs: number;
  readonly logger: Logger;
}

interface FactRow {
  readonly name: string;
  readonly value: string;
}

/** The primary's clock, which processes write there for as long as they read replicas. */
const MARK = "replica_mark";
const FACTS: Table<FactRow> = { name: "installation", columns: ["name", "value"], key: ["name"] };
const FIND = "SELECT value FROM {installation} WHERE name = ?";

/** How often the mark is written and the replica's is read, at most. */
const CHECK_MS = 500;

/** How long a mark gets to arrive, and how often it is looked for. */
const ARRIVAL_MS = 2_000;
const POLL_MS = 100;

/**
 * Reads that may be old, on a replica. A mark with the primary's time is written to the primary; who reads it on the
 * replica knows that all that was committed before is there as well. A replica whose mark is older than the bound, that
 * is away or that fails a read is not used: the primary is, until a later check.
 */
export class Replica implements Reads {
  private database: KnexDatabase | null = null;
  /** The moment, by `performance.now()`, up to which the replica has everything. */
  private freshAt = -Infinity;
  private checkedAt = -Infinity;
  private checking: Promise<void> | null = null;
  private isReported = false;
  private isClosed = false;

  constructor(private readonly options: ReplicaOptions) {}

  async reading<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const { primary, lagMs } = this.options;
    if (performance.now() - this.checkedAt > CHECK_MS) this.beginCheck();
    const { database } = this;
    if (database === null || performance.now() - this.freshAt > lagMs) return primary.reading(work);
    try {
      return await database.reading(work);
    } catch (error) {
      this.leave(error);
      return primary.reading(work);
    }
  }

  /** How old the replica is now, in milliseconds. @throws {Error} it cannot be read, or has no mark */
  async lag(): Promise<number> {
    const { primary } = this.options;
    this.database ??= await this.options.open();
    const now = await this.mark(primary);
    const readAt = performance.now();
    const [row] = await this.database.all<FactRow>(FIND, [MARK]);
    if (row === undefined) throw new Error("nothing of this installation has arrived there yet");
    const lag = Math.max(0, now - Number(row.value));
    this.freshAt = readAt - lag;
    return lag;
  }

  /** The same, after what it was last asked for has had a second to arrive there. */
  async freshLag(): Promise<number> {
    const until = performance.now() + ARRIVAL_MS;
    for (;;) {
      const isLast = performance.now() > until;
      try {
        const lag = await this.lag();
        if (isLast || lag <= this.options.lagMs) return lag;
      } catch (error) {
        if (isLast) throw error;
      }
      await sleep(POLL_MS);
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.checking;
    await this.database?.close();
  }

  private beginCheck(): void {
    if (this.isClosed || this.checking !== null) return;
    this.checking = this.check().finally(() => {
      this.checkedAt = performance.now();
      this.checking = null;
    });
  }

  private async check(): Promise<void> {
    try {
      const lag = await this.lag();
      if (lag <= this.options.lagMs) return this.reportUse();
      this.report(`it is ${lag} ms behind`);
    } catch (error) {
      this.leave(error);
      // It may be another one when it is back.
      const { database } = this;
      this.database = null;
      await database?.close();
    }
  }

  /** Writes the primary's time to it, unless another process has just done so. @returns that time */
  private async mark(primary: KnexDatabase): Promise<number> {
    const [now, rows] = [await primary.readTime(), await primary.all<FactRow>(FIND, [MARK])];
    if (Math.abs(now - Number(rows[0]?.value ?? 0)) > CHECK_MS)
      await primary.transaction((session) => session.upsert(FACTS, [{ name: MARK, value: String(now) }]));
    return now;
  }

  private leave(error: unknown): void {
    this.freshAt = -Infinity;
    this.report((error as Error).message);
  }

  /** Logged once, until it is used again. */
  private report(reason: string): void {
    if (this.isReported) return;
    this.isReported = true;
    this.options.logger.warn("The replica of the storage is not used; the primary is read", { reason });
  }

  private reportUse(): void {
    if (this.isReported) this.options.logger.info("The replica of the storage is used again");
    this.isReported = false;
  }
}
