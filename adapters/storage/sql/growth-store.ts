import { firstIdAt, type IdPrefix } from "../../../core/ids.js";
import type {
  DueRows,
  GrowthStore,
  RetainedKind,
  StorageSize,
  TableSize,
  TableSizes,
} from "../../../core/ports/growth-store.js";
import type { KnexDatabase } from "./database.js";
import { dueRequests, oldAttempts } from "./jobs/job-retention.js";
import { MIGRATIONS } from "./migrations/index.js";
import type { Reads } from "./session.js";

/** Tables whose rows came at a moment that an index begins with. */
const BY_TIME: Readonly<Record<string, string>> = {
  jobs: "status IN ('queued', 'processing', 'completed', 'failed') AND created_at >= ?",
  job_attempts: "ended_at >= ?",
  ledger_entries: "created_at >= ?",
  provider_callbacks: "received_at >= ?",
  request_log: "created_at >= ?",
  webhook_events: "created_at >= ?",
};

/** Tables whose primary key begins with an id, which says when it was created. */
const BY_ID: Readonly<Record<string, readonly [column: string, prefix: IdPrefix]>> = {
  accounts: ["id", "acct"],
  api_keys: ["id", "key"],
  job_outputs: ["job_id", "job"],
  job_sources: ["job_id", "job"],
  playlists: ["id", "pls"],
  playlist_tracks: ["playlist_id", "pls"],
  track_assets: ["track_id", "trk"],
  track_lyrics: ["track_id", "trk"],
  track_tags: ["track_id", "trk"],
  tracks: ["id", "trk"],
  uploads: ["track_id", "trk"],
  webhook_deliveries: ["id", "dlv"],
  webhook_endpoints: ["id", "whe"],
  webhook_tries: ["delivery_id", "dlv"],
};

type IndexedKind = Exclude<RetainedKind, "job_requests" | "job_attempts">;

/** The moment by which a kind ages, which an index begins with. */
const AGES: Readonly<Record<IndexedKind, readonly [table: string, moment: string]>> = {
  idempotency_records: ["idempotency_records", "expires_at"],
  webhook_events: ["webhook_events", "created_at"],
  provider_callbacks: ["provider_callbacks", "received_at"],
  request_log: ["request_log", "created_at"],
  request_counts: ["request_counts", "starts_at"],
  credit_sums: ["credit_sums", "starts_at"],
};

interface SizeRow {
  readonly name: string;
  readonly row_count: number | string | null;
  readonly bytes: number | string | null;
  readonly free_bytes: number | string | null;
}

export class KnexGrowthStore implements GrowthStore {
  constructor(private readonly database: KnexDatabase) {}

  async tableSizes(since: number): Promise<TableSizes> {
    const found = new Map((await this.sizes()).map((row) => [row.name, row]));
    const tables: TableSize[] = [];
    for (const name of TABLES) {
      const row = found.get(this.database.names.of(name));
      if (row === undefined) continue;
      const rows = numberOf(row.row_count) ?? (await this.count(`SELECT COUNT(*) AS total FROM {${name}}`));
      tables.push({ name, rows, bytes: numberOf(row.bytes), newRows: await this.countNew(name, since) });
    }
    return { tables, areRowsEstimated: this.database.dialect.sizes.areRowsEstimated };
  }

  async size(): Promise<StorageSize> {
    const { whole } = this.database.dialect.sizes;
    const own = TABLES.map((name) => this.database.names.of(name));
    const rows =
      whole === null
        ? (await this.sizes()).filter(({ name }) => own.includes(name))
        : await this.database.all<Pick<SizeRow, "bytes" | "free_bytes">>(whole);
    const sum = (member: "bytes" | "free_bytes"): number | null =>
      rows.every((row) => row[member] === null) ? null : rows.reduce((total, row) => total + Number(row[member]), 0);
    return { bytes: sum("bytes"), freeBytes: sum("free_bytes") };
  }

  due(kind: RetainedKind, before: number, countMax: number): Promise<DueRows> {
    return this.database.reading((session) => {
      if (kind === "job_requests") return dueRequests(session, before, countMax);
      if (kind === "job_attempts")
        return countDue(session, "ended_at", oldAttempts(this.database.dialect), before, countMax);
      const [table, moment] = AGES[kind];
      const from = `FROM {${table}} WHERE ${moment} < ? ORDER BY ${moment} LIMIT ?`;
      return countDue(session, moment, from, before, countMax);
    });
  }

  private async sizes(): Promise<readonly SizeRow[]> {
    const { tables, tablesWithoutBytes, isWithoutBytes } = this.database.dialect.sizes;
    try {
      return await this.database.all<SizeRow>(tables);
    } catch (error) {
      if (!isWithoutBytes(error)) throw error;
      return this.database.all<SizeRow>(tablesWithoutBytes);
    }
  }

  private async countNew(name: string, since: number): Promise<number | null> {
    const time = BY_TIME[name];
    if (time !== undefined) return this.count(`SELECT COUNT(*) AS total FROM {${name}} WHERE ${time}`, since);
    const id = BY_ID[name];
    if (id === undefined) return null;
    const [column, prefix] = id;
    return this.count(`SELECT COUNT(*) AS total FROM {${name}} WHERE ${column} >= ?`, firstIdAt(prefix, since));
  }

  private async count(text: string, ...values: readonly (string | number)[]): Promise<number> {
    const [row] = await this.database.all<{ readonly total: number }>(text, values);
    return row?.total ?? 0;
  }
}

/** All that migrations create. */
const TABLES = MIGRATIONS.flatMap(({ creates = [] }) => creates).sort();

async function countDue(
  session: Reads,
  moment: string,
  from: string,
  before: number,
  countMax: number,
): Promise<DueRows> {
  const text = `SELECT COUNT(*) AS total, MIN(${moment}) AS oldest FROM (SELECT ${moment} ${from}) AS some`;
  const [row] = await session.all<{ total: number; oldest: number | null }>(text, [before, countMax]);
  return { rows: row?.total ?? 0, oldestAt: row?.oldest ?? null };
}

/** Sums of a server may come as text. */
function numberOf(value: number | string | null): number | null {
  return value === null ? null : Number(value);
}
