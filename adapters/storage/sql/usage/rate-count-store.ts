import type { RateCount, RateCountStore } from "../../../../core/ports/rate-count-store.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import type { KnexDatabase } from "../database.js";
import { columnsOf, sessionOf } from "../session.js";
import { named, plain, type RowOf, table } from "../table.js";

const RATE_COUNTS = table(
  "rate_counts",
  {
    subject: plain<string>(),
    windowSeconds: plain<number>(),
    startedAt: plain<number>(),
    count: named("requests", plain<number>()),
    endsAt: plain<number>(),
  },
  ["subject", "windowSeconds"],
);
type RateCountRow = RowOf<typeof RATE_COUNTS>;

const FIND = `SELECT ${columnsOf(RATE_COUNTS)} FROM {rate_counts} WHERE subject = ?`;
const FIND_ENDED = "SELECT subject, window_seconds FROM {rate_counts} WHERE ends_at <= ? ORDER BY ends_at LIMIT ?";
// One that was started again meanwhile stays.
const DELETE_ENDED = "DELETE FROM {rate_counts} WHERE subject = ? AND window_seconds = ? AND ends_at <= ?";

export class KnexRateCountStore implements RateCountStore {
  constructor(private readonly database: KnexDatabase) {}

  async lockCounts(tx: Transaction, subjects: readonly string[]): Promise<RateCount[]> {
    // All processes take them in one order, and so never wait for each other in a circle.
    const ascending = [...new Set(subjects)].sort().map((subject) => [subject]);
    const rows = await sessionOf(tx).allEach<RateCountRow>(FIND + this.database.dialect.forUpdate, ascending);
    return rows.map(toRateCount);
  }

  async insertCounts(tx: Transaction, counts: readonly RateCount[]): Promise<void> {
    await sessionOf(tx).insert(RATE_COUNTS, counts.map(toRateCountRow).sort(byKey));
  }

  async replaceCounts(tx: Transaction, counts: readonly RateCount[]): Promise<void> {
    await sessionOf(tx).upsert(RATE_COUNTS, counts.map(toRateCountRow));
  }

  async deleteEnded(tx: Transaction, before: number, limit: number): Promise<number> {
    const session = sessionOf(tx);
    const ended = await session.all<Key>(FIND_ENDED, [before, limit]);
    const deleted = await session.runEach(
      DELETE_ENDED,
      [...ended].sort(byKey).map((row) => [row.subject, row.window_seconds, before]),
    );
    return deleted.reduce((sum, count) => sum + count, 0);
  }
}

type Key = Pick<RateCountRow, "subject" | "window_seconds">;

function byKey(one: Key, other: Key): number {
  if (one.subject === other.subject) return one.window_seconds - other.window_seconds;
  return one.subject < other.subject ? -1 : 1;
}

function toRateCount(row: RateCountRow): RateCount {
  const { endsAt: _endsAt, ...count } = RATE_COUNTS.fromRow(row);
  return count;
}

function toRateCountRow(count: RateCount): RateCountRow {
  return RATE_COUNTS.toRow({ ...count, endsAt: count.startedAt + count.windowSeconds * 1000 });
}
