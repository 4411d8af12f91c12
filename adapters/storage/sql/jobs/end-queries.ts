import { assert } from "../../../../core/assert.js";
import type { JobId } from "../../../../core/ids.js";
import type { JobStore, NumberedEnd } from "../../../../core/ports/job-store.js";
import type { UnitOfWork } from "../../../../core/ports/unit-of-work.js";
import type { KnexDatabase } from "../database.js";
import { END_COUNTER } from "../migrations/0031-end-numbers.js";
import { columnsOf, type Session, sessionOf } from "../session.js";
import { JOBS, type JobRow, toJob } from "./job-tables.js";

const COUNTER = "SELECT value FROM {installation} WHERE name = ?";
const MOVE_COUNTER = "UPDATE {installation} SET value = ? WHERE name = ?";
const WITHOUT_NUMBER = "WHERE end_number IS NULL AND completed_at IS NOT NULL";
/** SQLite's index has only ended jobs, so it is used only for a query that asks for these. */
const LIST = `SELECT end_number, ${columnsOf(JOBS)} FROM {jobs} WHERE end_number > ? AND completed_at IS NOT NULL
  ORDER BY end_number LIMIT ?`;
const FIRST_SINCE = `SELECT end_number FROM {jobs} WHERE end_number > ? AND completed_at >= ? ORDER BY end_number
  LIMIT 1`;
const NEWEST = 1_000;

type EndMethods = "numberEnds" | "listEnds" | "lastEndNumber" | "endNumberBefore";

/** The numbers of ended jobs in a job store. */
export class EndQueries implements Pick<JobStore, EndMethods> {
  constructor(
    protected readonly database: KnexDatabase,
    protected readonly unitOfWork: UnitOfWork,
  ) {}

  async numberEnds(limit: number): Promise<number> {
    const { forUpdate, forClaim, useIndex } = this.database.dialect;
    const find = `FROM {jobs}${useIndex("jobs_ends")} ${WITHOUT_NUMBER}`;
    // Every listener asks each second: without locks, as long as there is nothing to do.
    const any = await this.database.all(`SELECT 1 ${find} LIMIT 1`);
    if (any.length === 0) return 0;
    return this.unitOfWork.inTransaction(async (tx) => {
      const session = sessionOf(tx);
      // Held until the commit: the next process that numbers has waited for these numbers to be visible.
      const last = await lastNumber(session, forUpdate);
      const ended = await session.all<{ id: JobId }>(`SELECT id ${find} ORDER BY completed_at, id LIMIT ?${forClaim}`, [
        limit,
      ]);
      const numbers = ended.map(({ id }, index) => ({
        key: [id],
        columns: ["end_number"],
        values: [last + index + 1],
      }));
      await Promise.all([
        session.updateRows("jobs", ["id"], numbers),
        session.writeEach(MOVE_COUNTER, ended.length > 0 ? [[String(last + ended.length), END_COUNTER]] : []),
      ]);
      return ended.length;
    });
  }

  async listEnds(after: number, limit: number): Promise<NumberedEnd[]> {
    const rows = await this.database.all<JobRow & { end_number: number }>(LIST, [after, limit]);
    return rows.map((row) => ({ number: row.end_number, job: toJob(row) }));
  }

  lastEndNumber(): Promise<number> {
    return this.database.reading((session) => lastNumber(session));
  }

  async endNumberBefore(completedAt: number): Promise<number> {
    const last = await this.lastEndNumber();
    const since = [Math.max(0, last - NEWEST), completedAt];
    const [first] = await this.database.all<{ end_number: number }>(FIRST_SINCE, since);
    return first === undefined ? last : first.end_number - 1;
  }
}

async function lastNumber(session: Session, lock = ""): Promise<number> {
  const [row] = await session.all<{ value: string }>(COUNTER + lock, [END_COUNTER]);
  assert(row !== undefined, "the migration created the row of the last number");
  return Number(row.value);
}
