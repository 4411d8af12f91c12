import { ServiceUnavailableError } from "../../../core/errors.js";
import type { RateCount, RateCountStore } from "../../../core/ports/rate-count-store.js";
import type { Transaction, TransactionWork, UnitOfWork } from "../../../core/ports/unit-of-work.js";

/** Shared counts in memory, with transactions one at a time, and with faults. */
export class MemoryRateCounts implements RateCountStore, UnitOfWork {
  readonly concurrentWriters = 1;
  /** While true, reads and writes fail. */
  isDown = false;
  /** While set, transactions wait for it before they start. */
  hangs: Promise<void> | null = null;
  /** Committed transactions, and those of them that wrote. */
  transactions = 0;
  writes = 0;
  /** Every window ever started. */
  readonly begun: RateCount[] = [];
  private rows = new Map<string, RateCount>();
  private last: Promise<unknown> = Promise.resolve();

  /** @param pace waited for before and after each transaction */
  constructor(private readonly pace: () => Promise<void> = () => Promise.resolve()) {}

  rowsOf(subject: string): RateCount[] {
    return [...this.rows.values()].filter((row) => row.subject === subject);
  }

  inTransaction<T>(work: TransactionWork<T>): Promise<T> {
    const result = this.last.then(() => this.run(work));
    this.last = result.catch(() => undefined);
    return result;
  }

  async lockCounts(_tx: Transaction, subjects: readonly string[]): Promise<RateCount[]> {
    return [...this.rows.values()].filter(({ subject }) => subjects.includes(subject));
  }

  async insertCounts(_tx: Transaction, counts: readonly RateCount[]): Promise<void> {
    for (const count of counts) if (this.rows.has(keyOf(count))) throw new Error("The count is there already.");
    this.put(counts);
  }

  async replaceCounts(_tx: Transaction, counts: readonly RateCount[]): Promise<void> {
    for (const count of counts) if (!this.rows.has(keyOf(count))) throw new Error("There is no such count.");
    this.put(counts);
  }

  async deleteEnded(_tx: Transaction, before: number, limit: number): Promise<number> {
    const ended = [...this.rows]
      .filter(([, row]) => row.startedAt + row.windowSeconds * 1000 <= before)
      .slice(0, limit);
    for (const [key] of ended) this.rows.delete(key);
    return ended.length;
  }

  private async run<T>(work: TransactionWork<T>): Promise<T> {
    await this.hangs;
    await this.pace();
    if (this.isDown) throw new ServiceUnavailableError();
    const before = new Map(this.rows);
    const result = await work({} as Transaction, { isRetry: false });
    this.transactions += 1;
    const changed = [...this.rows].filter(([key, row]) => before.get(key) !== row);
    if (changed.length > 0) this.writes += 1;
    for (const [key, row] of changed) if (before.get(key)?.startedAt !== row.startedAt) this.begun.push(row);
    await this.pace();
    return result;
  }

  private put(counts: readonly RateCount[]): void {
    for (const count of counts) this.rows.set(keyOf(count), count);
  }
}

function keyOf({ subject, windowSeconds }: RateCount): string {
  return `${windowSeconds} ${subject}`;
}
