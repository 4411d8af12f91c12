import type { AudioStore } from "../ports/audio-store.js";
import type { Clock } from "../ports/clock.js";
import type { DueRows, GrowthStore, StorageSize, TableSize } from "../ports/growth-store.js";
import type { RetentionRule } from "./retention.js";

export interface ReportStorageDeps {
  readonly growth: GrowthStore;
  readonly audio: Pick<AudioStore, "list">;
  readonly clock: Clock;
  readonly rules: readonly RetentionRule[];
}

/** A table with how fast it grows: a mean of the last {@link GROWTH_DAYS} days, of what is there yet. */
export interface TableGrowth extends Omit<TableSize, "newRows"> {
  readonly rowsPerDay: number | null;
  /** With rows as long as those that are there. */
  readonly bytesPerDay: number | null;
}

/** What is past its time, by the setting that says so. */
export interface DueDeletion extends RetentionRule, DueRows {
  /** There are more rows than were counted. */
  readonly hasMore: boolean;
  /** For how long the oldest has been past its time, in milliseconds; 0 where nothing is. */
  readonly overdueMs: number;
}

export interface StorageReport {
  readonly at: number;
  readonly size: StorageSize;
  /** The largest first. */
  readonly tables: readonly TableGrowth[];
  readonly areRowsEstimated: boolean;
  readonly due: readonly DueDeletion[];
  /** null: not asked for. */
  readonly audio: { readonly files: number; readonly bytes: number } | null;
}

const DAY_MS = 86_400_000;
/** So that no day of the week counts more than another. */
export const GROWTH_DAYS = 7;
const DUE_ROWS_MAX = 1_000_000;
const PAGE_FILES = 10_000;

/** Reports for operators what the storage holds and what becomes of it. */
export class ReportStorage {
  constructor(private readonly deps: ReportStorageDeps) {}

  /**
   * May take seconds in a large storage, and holds up no writer.
   *
   * @param options `withAudio`: goes through the whole audio store as well, which may take minutes
   */
  async report({ withAudio }: { readonly withAudio: boolean }): Promise<StorageReport> {
    const { growth, clock, rules } = this.deps;
    const at = clock.now();
    const { tables, areRowsEstimated } = await growth.tableSizes(at - GROWTH_DAYS * DAY_MS);
    const grown = tables.map(growthOf).sort((a, b) => (b.bytes ?? b.rows) - (a.bytes ?? a.rows));
    const due = await findDue(growth, rules, at, DUE_ROWS_MAX);
    const audio = withAudio ? await this.sumAudio() : null;
    return { at, size: await growth.size(), tables: grown, areRowsEstimated, due, audio };
  }

  private async sumAudio(): Promise<{ readonly files: number; readonly bytes: number }> {
    const sum = { files: 0, bytes: 0 };
    for (let after: string | null = null; ;) {
      const page = await this.deps.audio.list(after, PAGE_FILES);
      sum.files += page.length;
      sum.bytes += page.reduce((bytes, { sizeBytes }) => bytes + sizeBytes, 0);
      after = page.at(-1)?.key ?? null;
      if (page.length < PAGE_FILES || after === null) return sum;
    }
  }
}

function growthOf({ newRows, ...table }: TableSize): TableGrowth {
  const { rows, bytes } = table;
  const rowsPerDay = newRows === null ? null : newRows / GROWTH_DAYS;
  const rowBytes = bytes === null || rows === 0 ? null : bytes / rows;
  const bytesPerDay = rowsPerDay === null || rowBytes === null ? null : Math.round(rowsPerDay * rowBytes);
  return { ...table, rowsPerDay: rowsPerDay === null ? null : Math.round(rowsPerDay), bytesPerDay };
}

/**
 * What of each rule is past its time.
 *
 * @param countMax more rows are not counted
 */
export async function findDue(
  growth: Pick<GrowthStore, "due">,
  rules: readonly RetentionRule[],
  now: number,
  countMax: number,
): Promise<DueDeletion[]> {
  const found: DueDeletion[] = [];
  for (const rule of rules) {
    const before = now - rule.keptMs;
    const due = await growth.due(rule.kind, before, countMax + 1);
    const overdueMs = due.oldestAt === null ? 0 : Math.max(0, before - due.oldestAt);
    found.push({ ...rule, ...due, rows: Math.min(due.rows, countMax), hasMore: due.rows > countMax, overdueMs });
  }
  return found;
}
