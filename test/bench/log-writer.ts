import { SPAN_MS } from "../../adapters/storage/sql/usage/count-spans.js";
import { countsOf, type CountRow, REQUEST_COUNTS } from "../../adapters/storage/sql/usage/request-counts.js";
import { REQUEST_LOG, type RequestRow, toLoggedRequest } from "../../adapters/storage/sql/usage/request-log-table.js";
import type { Writer } from "./bulk-writer.js";

/** Writes rows of the log in the order of time, with their counts by hour and day. */
export class LogWriter {
  private readonly counts = new Map<string, CountRow>();

  constructor(private readonly writer: Writer) {}

  async write(rows: readonly RequestRow[]): Promise<void> {
    await this.writer.write(REQUEST_LOG, rows);
    for (const count of countsOf(rows.map(toLoggedRequest))) {
      const key = REQUEST_COUNTS.key.map((column) => count[column]).join(" ");
      this.counts.set(key, { ...count, requests: count.requests + (this.counts.get(key)?.requests ?? 0) });
    }
    await this.writeCounts(rows.at(-1)?.created_at ?? 0);
  }

  /** Writes the counts of spans that were not over yet. */
  close(): Promise<void> {
    return this.writeCounts(Infinity);
  }

  /** To spans that are over nothing is added. */
  private async writeCounts(now: number): Promise<void> {
    const over = [...this.counts].filter(([, { span, starts_at }]) => starts_at + SPAN_MS[span] <= now);
    for (const [key] of over) this.counts.delete(key);
    await this.writer.write(
      REQUEST_COUNTS,
      over.map(([, count]) => count),
    );
  }
}
