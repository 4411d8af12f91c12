import { setImmediate as nextTurn } from "node:timers/promises";
import type { AccountId, RequestId } from "../../../../core/ids.js";
import type { JobStatus } from "../../../../core/jobs/job.js";
import type { ListPosition } from "../../../../core/ports/list-page.js";
import type {
  CountedRequests,
  CreditsQuery,
  RequestCounts,
  RequestCredits,
  RequestLogStore,
  RequestQuery,
} from "../../../../core/ports/request-log-store.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import { ACCEPTED_STATUS, type LoggedRequest, LATE_FAILURE_STATUS } from "../../../../core/ports/request-log.js";
import type { KnexDatabase } from "../database.js";
import type { Reads } from "../replica.js";
import { allIn, inChunks, inOrder } from "../lists.js";
import {
  countStatement,
  creditsByStatusStatement,
  creditsStatement,
  isIndexed,
  mayBeMerged,
  mergedStatement,
  pageStatement,
  type Statement,
  stepStatement,
  timeBehind,
} from "./request-log-statements.js";
import { cutWindow } from "./count-spans.js";
import { CreditSumTable } from "./credit-sums.js";
import { fillCreditSums } from "./fill-credit-sums.js";
import { RequestCountTable } from "./request-counts.js";
import { REQUEST_LOG, type RequestRow, toLoggedRequest, toRequestRow } from "./request-log-table.js";
import { deleteFound } from "../rows.js";
import { columnsOf, sessionOf } from "../session.js";

/**
 * Rows that one statement looks at: SQLite holds up the whole process meanwhile, and MySQL may take only so long for
 * one.
 */
const STEP_ROWS = 50_000;

const CREDITS_OF =
  "SELECT request_id, status, reserved_monthly + reserved_pack AS reserved FROM {jobs} WHERE account_id = ? AND " +
  "requested_at = ? AND request_id = ?";
const FIND = (marks: string): string => `SELECT ${columnsOf(REQUEST_LOG)} FROM {request_log} WHERE id IN (${marks})`;
const FIND_OLD = "SELECT id FROM {request_log} WHERE created_at < ? ORDER BY created_at LIMIT ?";
const DELETE = "DELETE FROM {request_log} WHERE id = ?";

interface ReservedRow {
  readonly request_id: RequestId;
  readonly status: JobStatus;
  readonly reserved: number;
}

export class KnexRequestLogStore implements RequestLogStore {
  private readonly counts: RequestCountTable;
  private readonly creditSums: CreditSumTable;

  constructor(
    private readonly database: KnexDatabase,
    private readonly stepRows = STEP_ROWS,
    private readonly reads: Reads = database,
  ) {
    this.counts = new RequestCountTable(database);
    this.creditSums = new CreditSumTable(database);
  }

  async insert(
    tx: Transaction,
    requests: readonly LoggedRequest[],
    { areNew }: { readonly areNew: boolean } = { areNew: false },
  ): Promise<void> {
    const session = sessionOf(tx);
    if (areNew) await this.counts.addNew(tx, requests);
    else await this.counts.add(tx, requests);
    // Four indexes begin with the account: rows that follow each other there go into pages that were just used.
    for await (const chunk of inChunks(requests.toSorted(byAccount))) {
      const rows = chunk.map(toRequestRow);
      // Where a row may be there it is the same row: its commit went through, and the reply was lost.
      await (areNew ? session.insert(REQUEST_LOG, rows) : session.upsert(REQUEST_LOG, rows));
    }
  }

  async list(
    given: RequestQuery,
    limit: number,
    after: ListPosition<RequestId> | null = null,
  ): Promise<LoggedRequest[]> {
    const query = timeBehind(given, after);
    const ids: RequestId[] = [];
    for await (const span of isIndexed(query) ? [query] : this.steps(query)) {
      const page = await this.all<Pick<RequestRow, "id">>(
        pageStatement(this.database.dialect, { ...query, ...span }, limit - ids.length, after),
      );
      ids.push(...page.map(({ id }) => id));
      if (ids.length === limit) break;
    }
    const rows = await this.reads.reading((session) => allIn<RequestRow>(session, FIND, ids));
    return inOrder(ids, new Map(rows.map((row) => [row.id, toLoggedRequest(row)])));
  }

  async count(query: RequestQuery): Promise<RequestCounts> {
    if (!(await this.counts.covers())) return this.countAll(query);
    const { edges, whole } = cutWindow(query);
    const ofEdges = edges.flatMap((edge) => this.rowCounts({ ...query, ...edge }));
    return this.sumOf([...this.counts.statements(query, whole), ...ofEdges]);
  }

  listCounts(accountId: AccountId, limit: number, after: CountedRequests | null = null): Promise<CountedRequests[]> {
    return this.counts.list(accountId, limit, after);
  }

  countNext(tx: Transaction, now: number, limit: number): Promise<boolean> {
    return this.counts.countNext(tx, now, limit);
  }

  deleteOldCounts(tx: Transaction, endedBefore: number, limit: number): Promise<number> {
    return this.counts.deleteOld(tx, endedBefore, limit);
  }

  deleteOld(tx: Transaction, createdBefore: number, limit: number): Promise<number> {
    // Processes that delete at the same time take different rows.
    const find = FIND_OLD + this.database.dialect.forClaim;
    const keyOf = ({ id }: Pick<RequestRow, "id">): string[] => [id];
    return deleteFound(sessionOf(tx), [find, [createdBefore, limit]], DELETE, keyOf);
  }

  async creditsOf(
    requests: readonly Pick<LoggedRequest, "id" | "accountId" | "createdAt">[],
  ): Promise<Map<RequestId, RequestCredits>> {
    const lists = requests.map(({ id, accountId, createdAt }) => [accountId, createdAt, id]);
    const rows = await this.reads.reading((session) => session.allEach<ReservedRow>(CREDITS_OF, lists));
    return new Map(
      rows.map(({ request_id, status, reserved }) => [
        request_id,
        { used: reserved, refunded: status === "failed" ? reserved : 0 },
      ]),
    );
  }

  async sumCredits({ status, ...query }: CreditsQuery): Promise<RequestCredits> {
    if (status === undefined) return this.sumAll(query);
    if (status >= LATE_FAILURE_STATUS) return this.sumByStatus(query, [status, status]);
    if (status !== ACCEPTED_STATUS) return { used: 0, refunded: 0 };
    // In this order: what comes meanwhile is not taken off, and no figure is below 0.
    const others = await this.sumByStatus(query, [LATE_FAILURE_STATUS, Number.MAX_SAFE_INTEGER]);
    const all = await this.sumAll(query);
    return { used: all.used - others.used, refunded: all.refunded - others.refunded };
  }

  sumNextCredits(tx: Transaction, now: number, limit: number): Promise<boolean> {
    return fillCreditSums(tx, this.database.dialect, now, limit);
  }

  deleteOldCredits(tx: Transaction, begunBefore: number, limit: number): Promise<number> {
    return this.creditSums.deleteOld(tx, begunBefore, limit);
  }

  private async sumAll(query: Omit<CreditsQuery, "status">): Promise<RequestCredits> {
    if (!(await this.creditSums.covers())) return this.sumJobs(query);
    // All in one, which sees a job that ends meanwhile once.
    const rows = await this.allOf<RequestCredits>(this.creditSums.statements(query));
    return {
      used: rows.reduce((sum, row) => sum + row.used, 0),
      refunded: rows.reduce((sum, row) => sum + row.refunded, 0),
    };
  }

  private async sumJobs(query: Omit<CreditsQuery, "status">): Promise<RequestCredits> {
    const sum = async (refundedOnly: boolean): Promise<number> => {
      const [row] = await this.all<{ readonly credits: number }>(
        creditsStatement(this.database.dialect, query, { refundedOnly }),
      );
      return row?.credits ?? 0;
    };
    // In this order: of a job that comes and fails meanwhile, no more comes back than was used.
    const refunded = await sum(true);
    return { used: await sum(false), refunded };
  }

  private async sumByStatus(
    query: Omit<CreditsQuery, "status">,
    statuses: readonly [lowest: number, highest: number],
  ): Promise<RequestCredits> {
    const [row] = await this.all<RequestCredits>(creditsByStatusStatement(this.database.dialect, query, statuses));
    return { used: row?.used ?? 0, refunded: row?.refunded ?? 0 };
  }

  private async countAll(query: RequestQuery): Promise<RequestCounts> {
    let [requests, failed] = [0, 0];
    for await (const span of this.steps(query)) {
      const found = await this.sumOf(this.rowCounts({ ...query, ...span }));
      requests += found.requests;
      failed += found.failed;
    }
    return { requests, failed };
  }

  private rowCounts(query: RequestQuery): Statement[] {
    const { dialect } = this.database;
    const rows = countStatement(dialect, query);
    return mayBeMerged(query) ? [rows, mergedStatement(dialect, query)] : [rows];
  }

  private async sumOf(statements: readonly Statement[]): Promise<RequestCounts> {
    const rows = await this.allOf<RequestCounts>(statements);
    return {
      requests: rows.reduce((sum, row) => sum + row.requests, 0),
      failed: rows.reduce((sum, row) => sum + row.failed, 0),
    };
  }

  /**
   * The time of the query in parts that hold so many rows to look at, the newest first. Between two of them others get
   * their turn.
   */
  private async *steps(query: RequestQuery): AsyncGenerator<Pick<RequestQuery, "from" | "to">> {
    for (let { to } = query; ;) {
      const [row] = await this.all<Pick<RequestRow, "created_at">>(
        stepStatement(this.database.dialect, { ...query, to }, this.stepRows - 1),
      );
      const from = row?.created_at ?? query.from;
      yield { from, to };
      if (row === undefined) return;
      to = from;
      await nextTurn();
    }
  }

  /** The rows of all statements, which are one: they cost one round trip, and see the same moment. */
  private async allOf<Row>(statements: readonly Statement[]): Promise<Row[]> {
    if (statements.length === 0) return [];
    const text = statements.map((one) => one.text).join(" UNION ALL ");
    return this.all({ text, values: statements.flatMap(({ values }) => values) });
  }

  private all<Row>({ text, values }: Statement): Promise<Row[]> {
    return this.reads.reading((session) => session.all<Row>(text, values));
  }
}

function byAccount(a: LoggedRequest, b: LoggedRequest): number {
  if (a.accountId === b.accountId) return 0;
  return a.accountId < b.accountId ? -1 : 1;
}
