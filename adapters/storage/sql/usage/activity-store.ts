import type {
  Activity,
  ActivityStore,
  CreditActivity,
  JobActivity,
  ProviderActivity,
  RequestActivity,
  TimeSpan,
} from "../../../../core/ports/activity-store.js";
import type { EntryKind } from "../../../../core/credits/balance.js";
import type { KnexDatabase } from "../database.js";
import type { Reads } from "../replica.js";

const REQUESTS = (index: string): string => `SELECT
    COALESCE(SUM(COALESCE(request_count, 1)), 0) AS total,
    COALESCE(SUM(CASE WHEN status = 429 THEN COALESCE(request_count, 1) ELSE 0 END), 0) AS refused,
    COALESCE(SUM(CASE WHEN status BETWEEN 400 AND 499 AND status <> 429 THEN 1 ELSE 0 END), 0) AS client_errors,
    COALESCE(SUM(CASE WHEN status >= 500 THEN 1 ELSE 0 END), 0) AS server_errors
  FROM {request_log}${index} WHERE created_at >= ? AND created_at < ?`;

const ENTRIES = (index: string): string => `SELECT kind, COUNT(*) AS entries,
    SUM(monthly + pack) AS moved, SUM(spent) AS spent
  FROM {ledger_entries}${index} WHERE created_at >= ? AND created_at < ? GROUP BY kind`;

const ATTEMPTS = (index: string): string => `SELECT provider_id,
    SUM(CASE WHEN state = 'settled' THEN 1 ELSE 0 END) AS delivered,
    SUM(CASE WHEN state IN ('refused', 'failed') THEN 1 ELSE 0 END) AS failed,
    SUM(CASE WHEN state IN ('failed', 'abandoned') AND loss IS NOT NULL AND accepted_at IS NOT NULL
      THEN 1 ELSE 0 END) AS wasted
  FROM {job_attempts}${index} WHERE ended_at >= ? AND ended_at < ? GROUP BY provider_id ORDER BY provider_id`;

interface RequestSums {
  readonly total: number;
  readonly refused: number;
  readonly client_errors: number;
  readonly server_errors: number;
}

interface EntrySums {
  readonly kind: EntryKind;
  readonly entries: number;
  /** How the credits that an account may spend changed. */
  readonly moved: number;
  readonly spent: number;
}

interface AttemptSums {
  readonly provider_id: string;
  readonly delivered: number;
  readonly failed: number;
  readonly wasted: number;
}

/** Each sum is read from one index alone. */
export class KnexActivityStore implements ActivityStore {
  constructor(
    private readonly database: KnexDatabase,
    private readonly reads: Reads = database,
  ) {}

  async activityIn(span: TimeSpan): Promise<Activity> {
    const [requests, entries, attempts] = await Promise.all([
      this.sums<RequestSums>(REQUESTS, "request_log_statuses", span),
      this.sums<EntrySums>(ENTRIES, "ledger_entries_time", span),
      this.sums<AttemptSums>(ATTEMPTS, "job_attempts_ended", span),
    ]);
    return { requests: toRequests(requests[0]), ...toMovements(entries), providers: toProviders(attempts) };
  }

  private sums<Row>(text: (index: string) => string, index: string, { from, to }: TimeSpan): Promise<Row[]> {
    const sql = text(this.database.dialect.useIndex(index));
    return this.reads.reading((session) => session.all<Row>(sql, [from, to]));
  }
}

function toRequests(row: RequestSums | undefined): RequestActivity {
  return {
    total: row?.total ?? 0,
    refused: row?.refused ?? 0,
    clientErrors: row?.client_errors ?? 0,
    serverErrors: row?.server_errors ?? 0,
  };
}

/** A job is opened by one reservation, and closed by one charge or refund. */
function toMovements(rows: readonly EntrySums[]): { readonly jobs: JobActivity; readonly credits: CreditActivity } {
  const of = (kind: EntryKind): Omit<EntrySums, "kind"> =>
    rows.find((row) => row.kind === kind) ?? { entries: 0, moved: 0, spent: 0 };
  return {
    jobs: { accepted: of("reserve").entries, completed: of("charge").entries, failed: of("refund").entries },
    credits: {
      granted: of("grant").moved,
      renewed: of("renew").moved,
      expired: Math.abs(of("expire").moved),
      reserved: Math.abs(of("reserve").moved),
      charged: of("charge").spent,
      refunded: of("refund").moved,
    },
  };
}

function toProviders(rows: readonly AttemptSums[]): ProviderActivity[] {
  return rows
    .filter(({ delivered, failed, wasted }) => delivered + failed + wasted > 0)
    .map(({ provider_id: providerId, delivered, failed, wasted }) => ({ providerId, delivered, failed, wasted }));
}
